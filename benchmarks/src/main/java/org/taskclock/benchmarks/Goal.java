// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * One of the figures that TaskClock is to reach.
 *
 * @param text what is to be reached
 * @param benchmarks what must have been measured to judge it
 * @param judge judges a JDK's results
 */
record Goal(String text, List<String> benchmarks, Function<Results, Verdict> judge) {
    record Verdict(String measured, String met) {
        Verdict(String measured, boolean met) {
            this(measured, met ? "yes" : "**no**");
        }

        /** Nothing gets below a floor: where it seems so, the floor was disturbed, and nothing follows. */
        static Verdict overFloor(String measured, double ratio, boolean met) {
            return ratio < FLOOR_TOLERANCE ? new Verdict(measured, "floor disturbed") : new Verdict(measured, met);
        }
    }

    private static final double FLOOR_TOLERANCE = 0.95;

    /** Less than the smallest object is nothing: what is left is the profiler's own and the JVM's background. */
    private static final double NO_BYTES = 1;

    static final List<Goal> ALL = List.of(
            overFloor("CurrentThread.cpuNanos", "CurrentThread.floor", 12, 20),
            atMost(1.2, "CurrentThread.userNanos", "CurrentThread.cpuNanos"),
            atMost(1.2, "CurrentThread.systemNanos", "CurrentThread.cpuNanos"),
            cheaper(15, "CurrentThread.userNanos", "CurrentThread.stockUser"),
            cheaper(15, "CurrentThread.systemNanos", "CurrentThread.stockUser"),
            atMost(1.15, "OtherThread.cpuNanos parked", "OtherThread.floor parked"),
            atMost(1.15, "OtherThread.cpuNanos spinning", "OtherThread.floor spinning"),
            atMost(1.2, "AllThreads.snapshot 10000", "AllThreads.floor 10000"),
            noBytes("CurrentThread.cpuNanos", 1),
            noBytes("CurrentThread.userNanos", 1),
            noBytes("CurrentThread.systemNanos", 1),
            noBytes("CurrentThread.now", 1),
            noBytes("CurrentThread.read", 1),
            noBytes("OtherThread.cpuNanos parked", 1),
            noBytes("AllThreads.snapshot 10000", 10_000));

    private static Goal overFloor(String key, String floor, int ffmNanos, int jniNanos) {
        String text = key + " at most " + ffmNanos + " ns (FFM) or " + jniNanos + " ns (JNI) over a bare system call";
        return new Goal(text, List.of(key, floor), results -> {
            double over = results.nanos(key) - results.nanos(floor);
            String measured = format("%.0f %+.1f ns", results.nanos(floor), over);
            double ratio = results.nanos(key) / results.nanos(floor);
            return Verdict.overFloor(measured, ratio, over <= (results.isFfm() ? ffmNanos : jniNanos));
        });
    }

    private static Goal atMost(double times, String key, String other) {
        return new Goal(key + " at most " + times + " x " + other, List.of(key, other), results -> {
            double ratio = results.nanos(key) / results.nanos(other);
            String measured = format("%,.0f / %,.0f ns = %.2f x", results.nanos(key), results.nanos(other), ratio);
            boolean met = ratio <= times;
            return other.contains(".floor") ? Verdict.overFloor(measured, ratio, met) : new Verdict(measured, met);
        });
    }

    private static Goal cheaper(double times, String key, String stock) {
        String text = format("%s at least %.0f x cheaper than %s (to JDK 25.0.4)", key, times, stock);
        return new Goal(text, List.of(key, stock), results -> {
            if (!results.readsUserTimeAsText()) return new Verdict("", "not asked");
            double ratio = results.nanos(stock) / results.nanos(key);
            String measured = format("%,.0f / %,.0f ns = %.1f x", results.nanos(stock), results.nanos(key), ratio);
            return new Verdict(measured, ratio >= times);
        });
    }

    private static Goal noBytes(String key, int threads) {
        return new Goal(key + " allocates nothing", List.of(key), results -> {
            double bytes = results.bytes(key) / threads;
            String measured = format(threads == 1 ? "%.2f bytes" : "%.2f bytes a thread", bytes);
            return new Verdict(measured, bytes < NO_BYTES);
        });
    }

    static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
