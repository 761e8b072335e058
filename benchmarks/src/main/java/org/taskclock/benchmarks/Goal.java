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
 * @param rungs on which rungs
 * @param benchmarks what must have been measured to judge it
 * @param judge judges a JDK's results
 */
record Goal(String text, Rungs rungs, List<String> benchmarks, Function<Results, Verdict> judge) {
    enum Rungs {
        ALL,
        /** Those that do without system calls. */
        COUNTING,
        /** Those that ask the kernel each time. */
        ASKING;

        boolean has(Results results) {
            return this == ALL || (this == COUNTING) == results.isCounting();
        }
    }

    record Verdict(String measured, String met) {
        static final Verdict NOT_ASKED = new Verdict("", "not asked");

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
            atMost(1.2, "CurrentThread.userNanos", "CurrentThread.cpuNanos", Rungs.ASKING),
            atMost(1.2, "CurrentThread.systemNanos", "CurrentThread.cpuNanos", Rungs.ASKING),
            cheaperToRead(15, 0, "CurrentThread.userNanos", Rungs.ASKING),
            cheaperToRead(15, 0, "CurrentThread.systemNanos", Rungs.ASKING),
            atMostNanos(12, "CurrentThread.cpuNanos"),
            atMost(1, "CurrentThread.cpuNanos", "CurrentThread.nanoTime", Rungs.COUNTING),
            cheaper(30, "CurrentThread.cpuNanos", "CurrentThread.stockCpu"),
            atMostNanos(20, "CurrentThread.userNanos"),
            atMostNanos(20, "CurrentThread.systemNanos"),
            cheaperToRead(400, 10, "CurrentThread.userNanos", Rungs.COUNTING),
            cheaperToRead(400, 10, "CurrentThread.systemNanos", Rungs.COUNTING),
            atMostNanos(30, "CurrentThread.now"),
            atMost(
                    1.2,
                    "Concurrency.tenBy16Threads" + Results.P99,
                    "Concurrency.tenByOneThread" + Results.P99,
                    Rungs.COUNTING),
            throughput(1.9, "Concurrency.onTwoProcessors", "Concurrency.onOneProcessor"),
            atMostNanos(40, "Account.enterAndClose"),
            throughput(1.9, "Account.onTwoProcessors", "Account.onOneProcessor"),
            atMost(1.15, "OtherThread.cpuNanos parked", "OtherThread.floor parked", Rungs.ALL),
            atMost(1.15, "OtherThread.cpuNanos spinning", "OtherThread.floor spinning", Rungs.ALL),
            atMost(1.2, "AllThreads.snapshot 10000", "AllThreads.floor 10000", Rungs.ALL),
            atMostNanos(20, "UnderAgent.cpu"),
            cheaper(20, "UnderAgent.cpu", "CurrentThread.stockCpu"),
            atMostNanos(30, "UnderAgent.user"),
            cheaperToRead(250, 7, "UnderAgent.user", Rungs.COUNTING),
            moreBy(15, "UnderAgent.yieldCounted", "UnderAgent.yieldWithout"),
            moreBy(30, "Mounts.accounted", "Mounts.emptyAgent"),
            moreBy(30, "Mounts.accountedUntold", "Mounts.emptyAgentUntold"),
            noBytes("CurrentThread.cpuNanos", 1),
            noBytes("CurrentThread.userNanos", 1),
            noBytes("CurrentThread.systemNanos", 1),
            noBytes("CurrentThread.now", 1),
            noBytes("CurrentThread.read", 1),
            noBytes("Account.enterAndClose", 1),
            noBytes("OtherThread.cpuNanos parked", 1),
            noBytes("AllThreads.snapshot 10000", 10_000));

    private static Goal overFloor(String key, String floor, int ffmNanos, int jniNanos) {
        String text = key + " at most " + ffmNanos + " ns (FFM) or " + jniNanos + " ns (JNI) over a bare system call";
        return new Goal(text, Rungs.ASKING, List.of(key, floor), results -> {
            double over = results.nanos(key) - results.nanos(floor);
            String measured = format("%.0f %+.1f ns", results.nanos(floor), over);
            double ratio = results.nanos(key) / results.nanos(floor);
            return Verdict.overFloor(measured, ratio, over <= (results.isFfm() ? ffmNanos : jniNanos));
        });
    }

    private static Goal atMostNanos(int nanos, String key) {
        return new Goal(key + " at most " + nanos + " ns", Rungs.COUNTING, List.of(key), results -> {
            return new Verdict(format("%.1f ns", results.nanos(key)), results.nanos(key) <= nanos);
        });
    }

    private static Goal atMost(double times, String key, String other, Rungs rungs) {
        String text = key + " at most " + format(times == 1 ? "" : "%s x ", times) + other;
        return new Goal(text, rungs, List.of(key, other), results -> {
            double ratio = results.nanos(key) / results.nanos(other);
            String measured = format("%,.0f / %,.0f ns = %.2f x", results.nanos(key), results.nanos(other), ratio);
            boolean met = ratio <= times;
            return other.contains(".floor") ? Verdict.overFloor(measured, ratio, met) : new Verdict(measured, met);
        });
    }

    private static Goal cheaper(double times, String key, String stock) {
        String text = format("%s at least %.0f x cheaper than %s", key, times, stock);
        return new Goal(text, Rungs.COUNTING, List.of(key, stock), results -> cheaper(results, times, key, stock));
    }

    /** Than stock user time, which the JDK read from text first. 0 times: not asked. */
    private static Goal cheaperToRead(int timesThanText, int times, String key, Rungs rungs) {
        String stock = "CurrentThread.stockUser";
        String text = format("%s at least %d x cheaper than %s to JDK 25.0.4", key, timesThanText, stock);
        if (times > 0) text += format(", %d x later", times);
        return new Goal(text, rungs, List.of(key, stock), results -> {
            int asked = results.readsUserTimeAsText() ? timesThanText : times;
            return asked == 0 ? Verdict.NOT_ASKED : cheaper(results, asked, key, stock);
        });
    }

    private static Verdict cheaper(Results results, double times, String key, String stock) {
        double ratio = results.nanos(stock) / results.nanos(key);
        String measured = format("%,.0f / %,.0f ns = %.1f x", results.nanos(stock), results.nanos(key), ratio);
        return new Verdict(measured, ratio >= times);
    }

    private static Goal moreBy(int nanos, String key, String other) {
        String text = format("%s at most %d ns over %s", key, nanos, other);
        return new Goal(text, Rungs.ALL, List.of(key, other), results -> {
            double over = results.nanos(key) - results.nanos(other);
            return new Verdict(format("%.0f %+.1f ns", results.nanos(other), over), over <= nanos);
        });
    }

    private static Goal throughput(double times, String two, String one) {
        String controlTwo = "Concurrency.nanoTimeOnTwoProcessors";
        String controlOne = "Concurrency.nanoTimeOnOneProcessor";
        String text = format("%s with at least %s x the throughput of %s", two, times, one);
        return new Goal(text, Rungs.COUNTING, List.of(two, one, controlTwo, controlOne), results -> {
            double ratio = 2 * results.nanos(one) / results.nanos(two);
            double control = 2 * results.nanos(controlOne) / results.nanos(controlTwo);
            String measured = format("%.2f x, System.nanoTime %.2f x", ratio, control);
            if (ratio < times && control < times) return new Verdict(measured, "processors disturbed");
            return new Verdict(measured, ratio >= times);
        });
    }

    private static Goal noBytes(String key, int threads) {
        return new Goal(key + " allocates nothing", Rungs.ALL, List.of(key), results -> {
            double bytes = results.bytes(key) / threads;
            String measured = format(threads == 1 ? "%.2f bytes" : "%.2f bytes a thread", bytes);
            return new Verdict(measured, bytes < NO_BYTES);
        });
    }

    static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
