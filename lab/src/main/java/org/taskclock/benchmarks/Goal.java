// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.taskclock.internal.JdkVersions;

/**
 * A performance goal of TaskClock.
 *
 * @param text describes the goal
 * @param backends to which the goal applies
 * @param benchmarks whose results the check needs
 * @param check checks the results of a JDK
 */
record Goal(String text, Backends backends, List<String> benchmarks, Function<JmhResults, Verdict> check) {
    enum Backends {
        ALL,
        /** Backends that read without a system call. */
        COUNTING,
        /** Backends that make a system call for each reading. */
        ASKING;

        boolean include(JmhResults results) {
            return this == ALL || (this == COUNTING) == results.isCounting();
        }
    }

    record Verdict(String measured, String met) {
        static final Verdict NOT_APPLICABLE = new Verdict("", "not applicable");

        Verdict(String measured, boolean met) {
            this(measured, met ? "yes" : "**no**");
        }

        /**
         * Returns the verdict for a result compared with a floor. A result below the floor means that the measurement
         * of the floor was disturbed.
         */
        static Verdict overFloor(String measured, double ratio, boolean met) {
            return ratio < FLOOR_TOLERANCE ? new Verdict(measured, "floor disturbed") : new Verdict(measured, met);
        }
    }

    private static final double FLOOR_TOLERANCE = 0.95;

    /**
     * The limit for "allocates nothing". The profiler and background work of the JVM allocate less than this per
     * operation.
     */
    private static final double MAX_BYTES = 1;

    static final List<Goal> ALL = List.of(
            overFloor("CurrentThreadBenchmark.cpuNanos", "CurrentThreadBenchmark.floor", 12, 20),
            atMost(1.2, "CurrentThreadBenchmark.userNanos", "CurrentThreadBenchmark.cpuNanos", Backends.ASKING),
            atMost(1.2, "CurrentThreadBenchmark.systemNanos", "CurrentThreadBenchmark.cpuNanos", Backends.ASKING),
            cheaperToRead(15, 0, "CurrentThreadBenchmark.userNanos", Backends.ASKING),
            cheaperToRead(15, 0, "CurrentThreadBenchmark.systemNanos", Backends.ASKING),
            atMostNanos(12, "CurrentThreadBenchmark.cpuNanos"),
            atMost(1, "CurrentThreadBenchmark.cpuNanos", "CurrentThreadBenchmark.nanoTime", Backends.COUNTING),
            cheaper(30, "CurrentThreadBenchmark.cpuNanos", "CurrentThreadBenchmark.stockCpu"),
            atMostNanos(20, "CurrentThreadBenchmark.userNanos"),
            atMostNanos(20, "CurrentThreadBenchmark.systemNanos"),
            cheaperToRead(400, 10, "CurrentThreadBenchmark.userNanos", Backends.COUNTING),
            cheaperToRead(400, 10, "CurrentThreadBenchmark.systemNanos", Backends.COUNTING),
            atMostNanos(30, "CurrentThreadBenchmark.now"),
            atMost(
                    1.2,
                    "ConcurrencyBenchmark.tenBy16Threads" + JmhResults.P99,
                    "ConcurrencyBenchmark.tenByOneThread" + JmhResults.P99,
                    Backends.COUNTING),
            throughput(1.9, "ConcurrencyBenchmark.onTwoProcessors", "ConcurrencyBenchmark.onOneProcessor"),
            atMostNanos(40, "AccountBenchmark.enterAndClose"),
            atMostNanos(40, "AccountBenchmark.named"),
            moreBy(10, "AccountBenchmark.named", "AccountBenchmark.enterAndClose"),
            throughput(1.9, "AccountBenchmark.onTwoProcessors", "AccountBenchmark.onOneProcessor"),
            atMost(1.15, "OtherThreadBenchmark.cpuNanos parked", "OtherThreadBenchmark.floor parked", Backends.ALL),
            atMost(1.15, "OtherThreadBenchmark.cpuNanos spinning", "OtherThreadBenchmark.floor spinning", Backends.ALL),
            atMost(1.2, "AllThreadsBenchmark.snapshot 10000", "AllThreadsBenchmark.floor 10000", Backends.ALL),
            atMost(1, "AllThreadsBenchmark.snapshotCpu 10000", "AllThreadsBenchmark.stockCpu 10000", Backends.ALL),
            atMostNanos(20, "AgentBenchmark.cpu"),
            cheaper(20, "AgentBenchmark.cpu", "CurrentThreadBenchmark.stockCpu"),
            atMostNanos(30, "AgentBenchmark.user"),
            cheaperToRead(250, 7, "AgentBenchmark.user", Backends.COUNTING),
            moreBy(15, "AgentBenchmark.yieldCounted", "AgentBenchmark.yieldWithout"),
            moreBy(30, "MountBenchmark.accounted", "MountBenchmark.emptyAgent"),
            moreBy(30, "MountBenchmark.accountedWithoutTransitions", "MountBenchmark.emptyAgentWithoutTransitions"),
            noBytes("CurrentThreadBenchmark.cpuNanos", 1),
            noBytes("CurrentThreadBenchmark.userNanos", 1),
            noBytes("CurrentThreadBenchmark.systemNanos", 1),
            noBytes("CurrentThreadBenchmark.now", 1),
            noBytes("CurrentThreadBenchmark.read", 1),
            noBytes("AccountBenchmark.enterAndClose", 1),
            noBytes("OtherThreadBenchmark.cpuNanos parked", 1),
            noBytes("AllThreadsBenchmark.snapshot 10000", 10_000));

    private static Goal overFloor(String key, String floor, int ffmNanos, int jniNanos) {
        String text = key + " at most " + ffmNanos + " ns (FFM) or " + jniNanos + " ns (JNI) over a bare system call";
        return new Goal(text, Backends.ASKING, List.of(key, floor), results -> {
            double over = results.nanos(key) - results.nanos(floor);
            String measured = format("%.0f %+.1f ns", results.nanos(floor), over);
            double ratio = results.nanos(key) / results.nanos(floor);
            return Verdict.overFloor(measured, ratio, over <= (results.isFfm() ? ffmNanos : jniNanos));
        });
    }

    private static Goal atMostNanos(int nanos, String key) {
        return new Goal(key + " at most " + nanos + " ns", Backends.COUNTING, List.of(key), results -> {
            return new Verdict(format("%.1f ns", results.nanos(key)), results.nanos(key) <= nanos);
        });
    }

    private static Goal atMost(double times, String key, String other, Backends backends) {
        String text = key + " at most " + format(times == 1 ? "" : "%s x ", times) + other;
        return new Goal(text, backends, List.of(key, other), results -> {
            double ratio = results.nanos(key) / results.nanos(other);
            String measured = format("%,.0f / %,.0f ns = %.2f x", results.nanos(key), results.nanos(other), ratio);
            boolean met = ratio <= times;
            return other.contains(".floor") ? Verdict.overFloor(measured, ratio, met) : new Verdict(measured, met);
        });
    }

    private static Goal cheaper(double times, String key, String stock) {
        String text = format("%s at least %.0f x cheaper than %s", key, times, stock);
        return new Goal(text, Backends.COUNTING, List.of(key, stock), results -> cheaper(results, times, key, stock));
    }

    /** Compares with stock user time, which older JDKs read as text. The goal does not apply if {@code times} is 0. */
    private static Goal cheaperToRead(int timesThanText, int times, String key, Backends backends) {
        String stock = "CurrentThreadBenchmark.stockUser";
        String text = format(
                "%s at least %d x cheaper than %s up to JDK %s",
                key, timesThanText, stock, JdkVersions.LAST_USER_TIME_AS_TEXT);
        if (times > 0) text += format(", %d x after that", times);
        return new Goal(text, backends, List.of(key, stock), results -> {
            int minimum = results.readsUserTimeAsText() ? timesThanText : times;
            return minimum == 0 ? Verdict.NOT_APPLICABLE : cheaper(results, minimum, key, stock);
        });
    }

    private static Verdict cheaper(JmhResults results, double times, String key, String stock) {
        double ratio = results.nanos(stock) / results.nanos(key);
        String measured = format("%,.0f / %,.0f ns = %.1f x", results.nanos(stock), results.nanos(key), ratio);
        return new Verdict(measured, ratio >= times);
    }

    private static Goal moreBy(int nanos, String key, String other) {
        String text = format("%s at most %d ns over %s", key, nanos, other);
        return new Goal(text, Backends.ALL, List.of(key, other), results -> {
            double over = results.nanos(key) - results.nanos(other);
            return new Verdict(format("%.0f %+.1f ns", results.nanos(other), over), over <= nanos);
        });
    }

    private static Goal throughput(double times, String two, String one) {
        String controlTwo = "ConcurrencyBenchmark.nanoTimeOnTwoProcessors";
        String controlOne = "ConcurrencyBenchmark.nanoTimeOnOneProcessor";
        String text = format("%s with at least %s x the throughput of %s", two, times, one);
        return new Goal(text, Backends.COUNTING, List.of(two, one, controlTwo, controlOne), results -> {
            double ratio = 2 * results.nanos(one) / results.nanos(two);
            double control = 2 * results.nanos(controlOne) / results.nanos(controlTwo);
            String measured = format("%.2f x, System.nanoTime %.2f x", ratio, control);
            if (ratio < times && control < times) return new Verdict(measured, "processors disturbed");
            return new Verdict(measured, ratio >= times);
        });
    }

    private static Goal noBytes(String key, int threads) {
        return new Goal(key + " allocates nothing", Backends.ALL, List.of(key), results -> {
            double bytes = results.bytes(key) / threads;
            String measured = format(threads == 1 ? "%.2f bytes" : "%.2f bytes per thread", bytes);
            return new Verdict(measured, bytes < MAX_BYTES);
        });
    }

    static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
