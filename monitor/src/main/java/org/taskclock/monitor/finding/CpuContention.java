// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.Comparator;
import java.util.List;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** Threads that wait for a processor because other processes use them. */
public final class CpuContention extends FindingKind {
    private static final double MIN_MACHINE_SHARE = 0.9;
    /** Of the CPU time of the machine. */
    private static final double MIN_OTHERS_SHARE = 0.3;
    /** Of the interval, and of the JVM's CPU time. */
    private static final double MIN_WAITING_SHARE = 0.5;

    private static final double MAX_THROTTLED_SHARE = 0.05;
    private static final int MAX_NAMES = 3;

    public CpuContention() {
        super(
                "cpu-contention",
                42,
                Color.YELLOW,
                Source.DUMPS,
                "Threads wait for a processor, because other processes use the machine.",
                "Find these processes with top or pidstat. Move them or this JVM elsewhere, or give this JVM a larger CPU"
                        + " weight (cpu.weight, or requests.cpu in Kubernetes).");
    }

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        if (observation.details() == null) return List.of();
        ProcessUsage totals = observation.details().totals();
        long interval = observation.intervalNanos();
        long others = totals.machineNanos() - totals.processNanos() - totals.ownNanos();
        long waited = waitNanos(observation.usages());
        if (!isBusy(totals.processNanos(), interval)
                || totals.machineNanos() < MIN_MACHINE_SHARE * totals.processors() * interval
                || others < MIN_OTHERS_SHARE * totals.machineNanos()
                || waited < MIN_WAITING_SHARE * Math.max(interval, totals.processNanos())
                || totals.throttledNanos() > MAX_THROTTLED_SHARE * interval) return List.of();
        return List.of(new Finding(
                this,
                0,
                "threads wait " + number(waited / 1e6 / (interval / 1e9))
                        + " ms per second for a processor, while other" + " processes use "
                        + percent(others, totals.processors() * interval) + " of the machine",
                waiting(observation.usages(), interval)));
    }

    /** Returns which threads waited the most for a processor, one per element. */
    static List<String> waiting(List<ThreadUsage> usages, long intervalNanos) {
        return usages.stream()
                .filter(usage -> isOfThreads(usage) && usage.waitNanos() > 0)
                .sorted(Comparator.comparingLong(ThreadUsage::waitNanos).reversed())
                .limit(MAX_NAMES)
                .map(usage -> "\"" + usage.name() + "\" waited " + percent(usage.waitNanos(), intervalNanos)
                        + " of the time for a processor")
                .toList();
    }

    /** The JVM's own threads wake up even if the program does nothing, and virtual threads wait on carriers. */
    private static boolean isOfThreads(ThreadUsage usage) {
        return switch (usage.kind()) {
            case JAVA, NATIVE, CARRIER, GC -> true;
            default -> false;
        };
    }

    static long waitNanos(List<ThreadUsage> usages) {
        return usages.stream()
                .filter(CpuContention::isOfThreads)
                .mapToLong(usage -> Math.max(0, usage.waitNanos()))
                .sum();
    }

    @Override
    boolean mustLast() {
        return true;
    }
}
