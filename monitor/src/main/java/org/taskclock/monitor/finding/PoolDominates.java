// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.Collection;
import java.util.List;
import org.taskclock.metrics.PoolKey;
import org.taskclock.monitor.usage.ThreadUsage;

/** A pool that uses most of the CPU time of all JVMs of the host, while threads wait for a processor. */
public final class PoolDominates extends FindingKind {
    private static final double MIN_SHARE = 0.7;
    private static final double MIN_POOL_PROCESSORS = 0.5;
    /** Of the CPU time of all JVMs. */
    private static final double MIN_WAITING_SHARE = 0.5;

    /**
     * What all JVMs of the host used in an interval.
     *
     * @param largest the pool that used the most
     */
    public record Host(ThreadUsage largest, long cpuNanos, long waitNanos, long intervalNanos) {
        /** Adds up the pools of all JVMs. Returns null if there are none. */
        public static Host of(Collection<ThreadUsage> pools, long intervalNanos) {
            ThreadUsage largest = null;
            long cpuNanos = 0;
            long waitNanos = 0;
            for (ThreadUsage pool : pools) {
                cpuNanos += Math.max(0, pool.cpuNanos());
                waitNanos += Math.max(0, pool.waitNanos());
                if (largest == null || pool.cpuNanos() > largest.cpuNanos()) largest = pool;
            }
            return largest == null ? null : new Host(largest, cpuNanos, waitNanos, intervalNanos);
        }
    }

    public PoolDominates() {
        super(
                "pool-dominates",
                90,
                Color.RED,
                Source.HOST,
                "One thread pool uses most of the CPU time on this host, while threads wait for a processor.",
                "Find out with taskclock why PID what the pool does, and whether its threads wait for a lock. Limit its"
                        + " number of threads if others are more important.");
    }

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        Host host = observation.host();
        if (host == null || host.largest.pid() != observation.pid()) return List.of();
        ThreadUsage largest = host.largest;
        if (largest.pool().equals(PoolKey.ENDED.pool())
                || largest.cpuNanos() < MIN_POOL_PROCESSORS * host.intervalNanos
                || largest.cpuNanos() < MIN_SHARE * host.cpuNanos
                || host.waitNanos < MIN_WAITING_SHARE * host.cpuNanos) return List.of();
        return List.of(new Finding(
                this,
                0,
                "pool \"" + largest.pool() + "\" uses most of the CPU time of all JVMs of this host, while"
                        + " threads wait for a processor",
                List.of(
                        percent(largest.cpuNanos(), host.intervalNanos) + " of a core, "
                                + percent(largest.cpuNanos(), host.cpuNanos) + " of that of all JVMs",
                        "threads wait " + number(host.waitNanos / 1e6) + " ms for a processor in "
                                + number(host.intervalNanos / 1e6) + " ms")));
    }

    @Override
    public List<Alert> alerts() {
        return List.of(new Alert(
                "TaskClockPoolDominates",
                10,
                Alert.Severity.WARNING,
                """
                jvm_pool:taskclock_thread_cpu_time_seconds:rate5m
                / on (job, instance) group_left ()
                sum by (job, instance) (jvm_pool:taskclock_thread_cpu_time_seconds:rate5m) > %s
                and jvm_pool:taskclock_thread_cpu_time_seconds:rate5m > %s
                and on (job, instance)
                sum by (job, instance) (jvm_pool:taskclock_thread_wait_time_seconds:rate5m)
                > %s * sum by (job, instance) (jvm_pool:taskclock_thread_cpu_time_seconds:rate5m)""".formatted(MIN_SHARE, MIN_POOL_PROCESSORS, MIN_WAITING_SHARE),
                Alert.POOL + "uses {{ $value | humanizePercentage }} of the CPU time of all JVMs of this host",
                "The number of processors is not a metric, but threads wait only if there are too few."));
    }
}
