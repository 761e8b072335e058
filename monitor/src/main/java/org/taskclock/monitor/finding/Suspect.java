// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * A thread, or the threads of a pool, that may have a problem.
 *
 * @param pool empty if it is a single thread
 * @param stacks samples of a single thread
 * @param yieldsPerSecond 0 if unknown
 */
record Suspect(
        List<ThreadUsage> threads,
        String pool,
        StackSamples.Stacks stacks,
        double yieldsPerSecond,
        long intervalNanos) {
    static final double HEAVY_SHARE = 0.5;

    private static final double RUNNABLE_SHARE = 0.9;
    private static final double MAX_SYSTEM_SHARE = 0.1;

    /** Per second. When processors are scarce, each yield causes an involuntary context switch. */
    private static final double MANY_SWITCHES = 2_000;

    static boolean isSuspicious(ThreadUsage thread, long intervalNanos) {
        if (thread.tid() == 0) return false;
        boolean isBusy = FindingKind.isBusy(thread.cpuNanos(), intervalNanos);
        return switch (thread.kind()) {
            case CARRIER -> isBusy;
            case JAVA, NATIVE ->
                (isBusy && (isSystemHeavy(thread) || thread.involuntary() > MANY_SWITCHES * intervalNanos / 1e9))
                        || isSpinning(thread, intervalNanos)
                        || TimerStorm.isPossible(thread, intervalNanos);
            default -> false;
        };
    }

    /** Returns whether it ran, or waited for a processor, nearly all the time. */
    static boolean isAlwaysRunnable(ThreadUsage thread, long intervalNanos) {
        return thread.cpuNanos() + Math.max(0, thread.waitNanos()) >= RUNNABLE_SHARE * intervalNanos
                && thread.cpuNanos() > 0;
    }

    /** Returns whether it hardly ever blocked and was hardly ever in the kernel. */
    static boolean isSpinning(ThreadUsage thread, long intervalNanos) {
        return isAlwaysRunnable(thread, intervalNanos)
                && thread.voluntary() < YieldStorm.FEW_SWITCHES * intervalNanos / 1e9
                && thread.systemNanos() <= MAX_SYSTEM_SHARE * thread.cpuNanos();
    }

    static boolean isSystemHeavy(ThreadUsage thread) {
        return thread.systemNanos() > HEAVY_SHARE * thread.cpuNanos();
    }

    ThreadUsage busiest() {
        return threads.stream()
                .max(Comparator.comparingLong(ThreadUsage::cpuNanos))
                .orElseThrow();
    }

    boolean isCarrier() {
        return threads.get(0).kind() == ThreadKind.CARRIER;
    }

    /** Returns a sentence about it. */
    String that(String singular, String plural) {
        String name = busiest().name();
        if (isCarrier()) return "virtual threads on \"" + (pool.isEmpty() ? name : pool) + "\" " + plural;
        return threads.size() == 1
                ? "thread \"" + name + "\" " + singular
                : threads.size() + " threads of pool \"" + pool + "\" " + plural;
    }

    /** Returns the figures of its busiest thread. */
    List<String> evidence() {
        ThreadUsage thread = busiest();
        List<String> evidence = new ArrayList<>();
        evidence.add(FindingKind.percent(thread.cpuNanos(), intervalNanos) + " of a core, "
                + FindingKind.percent(thread.systemNanos(), Math.max(1, thread.cpuNanos())) + " of that in the kernel");
        if (thread.voluntary() >= 0) {
            double seconds = intervalNanos / 1e9;
            evidence.add(FindingKind.number(thread.voluntary() / seconds) + " voluntary and "
                    + FindingKind.number(thread.involuntary() / seconds) + " involuntary context switches per second");
        }
        return evidence;
    }

    Finding finding(FindingKind kind, String text, List<String> evidence) {
        return new Finding(kind, threads.size() == 1 ? threads.get(0).tid() : 0, text, evidence);
    }
}
