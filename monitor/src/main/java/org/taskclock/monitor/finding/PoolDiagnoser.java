// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.JvmUsage.ContainerUsage;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Finds problems in what pools and threads used, without stacks. It looks at pools where {@link Diagnoser} looks at
 * threads, and what it says about them is not confirmed.
 */
public final class PoolDiagnoser {
    // The same thresholds as in the alerting rule TaskClockPoolDominates.
    private static final double DOMINANT_SHARE = 0.7;
    private static final double DOMINANT_PERCENT = 50;
    private static final double WAITING_SHARE = 0.5;
    /** A call of Thread.yield takes time in the JVM besides that in the kernel: a third of it where we measured. */
    private static final double MAX_YIELDING_SHARE = 0.95;

    private PoolDiagnoser() {}

    /**
     * Returns the findings of a JVM.
     *
     * @param pools usage of the pools in the interval
     * @param threads usage of threads
     * @param container usage of the control group in the interval; null if there is none
     */
    public static List<Diagnosis> diagnose(
            List<ThreadUsage> pools,
            List<ThreadUsage> threads,
            long processNanos,
            ContainerUsage container,
            long intervalNanos) {
        List<Diagnosis> all = new ArrayList<>();
        diagnoseThreads(all, threads, intervalNanos);
        // Without a thread dump, a program's thread may only be named like a GC thread.
        List<ThreadUsage> collectors =
                pools.stream().filter(pool -> !pool.truncated()).toList();
        Diagnoser.diagnoseJvm(all, collectors, processNanos, intervalNanos, ThreadKind.GC, "gc", "garbage collection");
        Diagnoser.diagnoseJvm(all, pools, processNanos, intervalNanos, ThreadKind.JIT, "jit", "compilation");
        if (container != null)
            Diagnoser.diagnoseThrottling(all, container.limit(), container.throttledNanos(), intervalNanos);
        return all;
    }

    /** Finds at most one problem per pool, that of its busiest thread. */
    private static void diagnoseThreads(List<Diagnosis> all, List<ThreadUsage> threads, long intervalNanos) {
        double seconds = intervalNanos / 1e9;
        Map<PoolKey, List<ThreadUsage>> suspects = new HashMap<>();
        for (ThreadUsage thread : threads)
            if (isSuspect(thread, intervalNanos))
                suspects.computeIfAbsent(new PoolKey(thread.pool(), thread.kind()), k -> new ArrayList<>())
                        .add(thread);
        suspects.forEach((pool, found) -> {
            ThreadUsage busiest = found.stream()
                    .max((a, b) -> Long.compare(a.cpuNanos(), b.cpuNanos()))
                    .orElseThrow();
            boolean isYielding = Diagnoser.hardlyBlocks(busiest, intervalNanos)
                    && busiest.systemNanos() < MAX_YIELDING_SHARE * busiest.cpuNanos();
            boolean isCarrier = pool.kind() == ThreadKind.CARRIER;
            String subject = isCarrier
                    ? "virtual threads on \"" + pool.pool() + "\""
                    : found.size() == 1
                            ? Diagnoser.quoted(busiest)
                            : found.size() + " threads of pool \"" + pool.pool() + "\"";
            boolean isPlural = isCarrier || found.size() > 1;
            List<String> evidence = Diagnoser.evidence(busiest, intervalNanos, seconds);
            if (isYielding) {
                evidence.add("not confirmed: no stack was sampled");
                evidence.add(Diagnoser.hint(busiest.pid()));
            }
            String text = isYielding
                    ? subject + (isPlural ? " behave as if they" : " behaves as if it") + " kept calling Thread.yield"
                    : subject + (isPlural ? " spend most of their" : " spends most of its") + " time in the kernel";
            int tid = found.size() == 1 ? busiest.tid() : 0;
            all.add(new Diagnosis(isYielding ? Diagnoser.YIELD_STORM : "system-heavy", tid, text, evidence));
        });
    }

    private static boolean isSuspect(ThreadUsage thread, long intervalNanos) {
        boolean isProgram = thread.kind() == ThreadKind.JAVA
                || thread.kind() == ThreadKind.NATIVE
                || thread.kind() == ThreadKind.CARRIER;
        return isProgram
                && 100.0 * thread.cpuNanos() / intervalNanos >= Diagnoser.MIN_CPU_PERCENT
                && Diagnoser.isSystemHeavy(thread);
    }

    /**
     * Finds a pool that uses most of the CPU time of all JVMs of the machine, while threads wait for a processor.
     *
     * @param pools the pools of all JVMs
     * @return the finding, whose thread id is 0, and the process id of the pool's JVM; null if there is none
     */
    public static Map.Entry<Integer, Diagnosis> dominant(Collection<ThreadUsage> pools, long intervalNanos) {
        ThreadUsage largest = null;
        long cpuNanos = 0;
        long waitNanos = 0;
        for (ThreadUsage pool : pools) {
            cpuNanos += Math.max(0, pool.cpuNanos());
            waitNanos += Math.max(0, pool.waitNanos());
            if (largest == null || pool.cpuNanos() > largest.cpuNanos()) largest = pool;
        }
        if (largest == null || largest.pool().equals(PoolKey.ENDED.pool())) return null;
        double percent = 100.0 * largest.cpuNanos() / intervalNanos;
        if (percent < DOMINANT_PERCENT
                || largest.cpuNanos() < DOMINANT_SHARE * cpuNanos
                || waitNanos < WAITING_SHARE * cpuNanos) return null;
        String share = Diagnoser.number(100.0 * largest.cpuNanos() / cpuNanos);
        return Map.entry(
                largest.pid(),
                new Diagnosis(
                        FindingKind.POOL_DOMINATES.id(),
                        0,
                        "pool \"" + largest.pool() + "\" uses most of the CPU time of all JVMs of this host, while"
                                + " threads wait for a processor",
                        List.of(
                                Diagnoser.number(percent) + " % of a core, " + share + " % of that of all JVMs",
                                "threads wait " + Diagnoser.number(waitNanos / 1e6) + " ms for a processor in "
                                        + Diagnoser.number(intervalNanos / 1e6) + " ms")));
    }
}
