// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongSupplier;
import one.profiler.AsyncProfiler;

/** Reads without pause, under async-profiler once it is warm. Arguments: contender, milliseconds, file. Says how it had to be done. */
final class Profiled {
    private static final String INTERVAL = ",interval=1ms";

    /** So that no reading can be left out. */
    static volatile long sum;

    private Profiled() {}

    public static void main(String[] args) throws IOException {
        LongSupplier reader =
                Granularity.reader(Contender.named(List.of(args[0])).get(0));
        long millis = Long.parseLong(args[1]);
        read(reader, Math.min(millis, 1_000));
        AsyncProfiler profiler = AsyncProfiler.getInstance();
        try {
            profiler.execute("start,event=cpu" + INTERVAL);
        } catch (IllegalStateException | IOException e) {
            // perf_event_paranoid, or seccomp in a container.
            profiler.execute("start,event=ctimer" + INTERVAL);
            System.out.println(
                    "by a timer: " + e.getMessage().lines().findFirst().orElse(""));
        }
        read(reader, millis);
        profiler.stop();
        // "ann" marks the kernel's frames; "norm" leaves out numbers of lambdas.
        Files.writeString(Path.of(args[2]), profiler.execute("collapsed,ann,norm"));
    }

    private static void read(LongSupplier reader, long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        while (System.nanoTime() - end < 0) {
            long some = 0;
            for (int i = 0; i < 100; i++) some += reader.getAsLong();
            sum = some;
        }
    }
}
