// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import one.profiler.AsyncProfiler;
import org.taskclock.benchmarks.ReadingLoop;

/**
 * A program that reads a clock in a loop and, after a warm-up, profiles itself with async-profiler. It prints a line if
 * it has to use a timer instead of perf events. Arguments: contender, milliseconds, file.
 */
final class ProfiledProgram {
    private static final String INTERVAL = ",interval=1ms";
    /** Enough to make the cost of checking the time negligible. */
    private static final int READINGS = 100;

    /** Keeps the JIT compiler from removing the readings. */
    static volatile long unusedSink;

    private ProfiledProgram() {}

    public static void main(String[] args) throws IOException {
        ReadingLoop loop = Contender.named(List.of(args[0])).get(0).loop;
        long millis = Long.parseLong(args[1]);
        read(loop, Math.min(millis, 1_000));
        AsyncProfiler profiler = AsyncProfiler.getInstance();
        try {
            profiler.execute("start,event=cpu" + INTERVAL);
        } catch (IllegalStateException | IOException e) {
            // perf_event_paranoid, or seccomp in a container, forbids perf events.
            profiler.execute("start,event=ctimer" + INTERVAL);
            System.out.println("timer instead of perf events: "
                    + e.getMessage().lines().findFirst().orElse(""));
        }
        read(loop, millis);
        profiler.stop();
        // "ann" marks kernel frames; "norm" removes the numbers in names of lambdas.
        Files.writeString(Path.of(args[2]), profiler.execute("collapsed,ann,norm"));
    }

    private static void read(ReadingLoop loop, long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        while (System.nanoTime() - end < 0) unusedSink = loop.read(READINGS);
    }
}
