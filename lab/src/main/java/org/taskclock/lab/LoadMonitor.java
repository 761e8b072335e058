// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.report.Result;

/**
 * Measures, for each step of a measurement, how much CPU time other processes and the hypervisor took. Reads /proc only
 * between the steps, when the child JVMs have exited, so that it does not disturb them.
 */
final class LoadMonitor {
    /**
     * A reading of /proc, in ticks.
     *
     * @param all the CPU time of all processors, including idle time
     * @param own the CPU time of this JVM and of its children that have exited
     */
    record Reading(long nanoTime, long all, long busy, long stolen, long own) {
        /** Parses the first line of /proc/stat and the only line of /proc/self/stat (proc(5)). */
        static Reading parse(long nanoTime, String machine, String self) {
            String[] cpu = machine.strip().split(" +", -1);
            long all = 0;
            // Fields 9 and 10, for guests, are also part of fields 1 and 2.
            for (int field = 1; field <= 8; field++) all += Long.parseLong(cpu[field]);
            long idle = Long.parseLong(cpu[4]) + Long.parseLong(cpu[5]);
            long stolen = Long.parseLong(cpu[8]);
            // The command name before these fields may contain spaces and parentheses.
            String[] fields = self.substring(self.lastIndexOf(')') + 2).split(" ", -1);
            long own = 0;
            for (int field = 11; field <= 14; field++) own += Long.parseLong(fields[field]);
            return new Reading(nanoTime, all, all - idle - stolen, stolen, own);
        }
    }

    private final List<Result.Load> steps = new ArrayList<>();
    private String step;
    private Reading start;

    /** Ends the current step, if any, and begins the next one. */
    synchronized void begin(String next) {
        end();
        step = next;
        start = read();
    }

    /** Ends the current step, if any. */
    synchronized void end() {
        Reading now = start == null ? null : read();
        if (now != null && now.all > start.all) steps.add(between(step, start, now));
        start = null;
    }

    /** Returns the steps that have ended. An interrupted step has no figures, because its child JVM may still exist. */
    synchronized List<Result.Load> steps() {
        return List.copyOf(steps);
    }

    static Result.Load between(String step, Reading start, Reading end) {
        double percentPerTick = 100.0 / (end.all - start.all);
        // The kernel counts processes and processors in different ways, so the difference may be slightly negative.
        long other = Math.max(end.busy - start.busy - (end.own - start.own), 0);
        return new Result.Load(
                step,
                hundredths((end.nanoTime - start.nanoTime) / 1e9),
                hundredths(other * percentPerTick),
                hundredths((end.stolen - start.stolen) * percentPerTick));
    }

    private static double hundredths(double value) {
        return Math.round(value * 100) / 100.0;
    }

    /** Returns null if /proc/stat is not available, as in some containers. */
    private static Reading read() {
        try (var lines = Files.lines(Path.of("/proc/stat"))) {
            return Reading.parse(
                    System.nanoTime(), lines.findFirst().orElse(""), Files.readString(Path.of("/proc/self/stat")));
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }
}
