// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Adds up the usage of pools, whose number is limited. No total ever decreases. A pool stays after its last thread has
 * ended. The pools add up to the CPU time of all threads: the CPU time of virtual threads, which the kernel counts for
 * their carriers, is subtracted from the carriers' pools.
 *
 * <p>Pools become known in the order of their CPU time. The last quarter of the limit is kept for pools that use at
 * least 1 % of the process's CPU time in an interval, so that a busy pool is not hidden because many idle ones came
 * first. The usage of pools that are not known yet counts for the pool {@value #OTHER} of their kind, and stays there
 * if they become known later.
 *
 * <p>Thread-safe.
 */
public final class PoolCounters {
    /** The name of the pool for everything beyond the limit. */
    public static final String OTHER = "other";

    /** The limit unless another one is set. */
    public static final int DEFAULT_MAX_POOLS = 100;

    /** The lowest limit. */
    public static final int MIN_POOLS = 2 * ThreadKind.THREADS;

    private static final double BUSY_SHARE = 0.01;
    private static final long MIN_BUSY_NANOS = 10_000_000;

    /** The maximum number of pools other than {@value #OTHER}, which can exist once for each kind. */
    private final int capacity;

    private int known;
    private final Map<PoolKey, PoolUsage> totals = new LinkedHashMap<>();

    private final CarriedTime carriedUser = new CarriedTime();
    private final CarriedTime carriedSystem = new CarriedTime();

    /** Creates counters for up to {@code maxPools} pools, which include {@value #OTHER} of each kind of thread. */
    public PoolCounters(int maxPools) {
        if (maxPools < MIN_POOLS)
            throw new IllegalArgumentException("limit of " + maxPools + " pools is below the minimum of " + MIN_POOLS);
        capacity = maxPools - ThreadKind.THREADS;
    }

    /**
     * Adds the usage of threads since the previous call. Several usages may belong to the same pool.
     *
     * @param usages one or more for each pool that has threads; their numbers of threads replace the previous ones
     */
    public synchronized void add(Collection<PoolUsage> usages) {
        Map<PoolKey, PoolUsage> interval = new LinkedHashMap<>();
        for (PoolUsage usage : usages) interval.merge(usage.key(), usage, PoolUsage::plus);
        subtractCarried(interval);
        totals.replaceAll((key, total) -> total.withThreads(0));
        long cpuNanos = 0;
        for (PoolUsage usage : interval.values()) cpuNanos += usage.cpuNanos();
        List<PoolUsage> busiestFirst = new ArrayList<>(interval.values());
        busiestFirst.sort(Comparator.comparingLong(PoolUsage::cpuNanos).reversed());
        for (PoolUsage usage : busiestFirst) {
            PoolKey key = isAdmitted(usage, cpuNanos) ? usage.key() : new PoolKey(OTHER, usage.kind());
            totals.put(key, totals.getOrDefault(key, PoolUsage.none(key)).plus(usage));
        }
    }

    private boolean isAdmitted(PoolUsage usage, long cpuNanos) {
        if (totals.containsKey(usage.key()) || usage.pool().equals(OTHER)) return true;
        boolean busy = usage.cpuNanos() >= Math.max(MIN_BUSY_NANOS, BUSY_SHARE * cpuNanos);
        if (known >= (busy ? capacity : capacity * 3 / 4)) return false;
        known++;
        return true;
    }

    private void subtractCarried(Map<PoolKey, PoolUsage> interval) {
        long user = 0;
        long system = 0;
        for (PoolUsage usage : interval.values()) {
            if (usage.kind() == ThreadKind.VIRTUAL) {
                carriedUser.add(usage.userNanos());
                carriedSystem.add(usage.systemNanos());
            } else if (usage.kind() == ThreadKind.CARRIER) {
                user += Math.max(0, usage.userNanos());
                system += Math.max(0, usage.systemNanos());
            }
        }
        carriedUser.begin(user);
        carriedSystem.begin(system);
        interval.replaceAll((key, usage) -> key.kind() == ThreadKind.CARRIER
                ? usage.minusCpu(carriedUser.takeFrom(usage.userNanos()), carriedSystem.takeFrom(usage.systemNanos()))
                : usage);
    }

    /** Returns the total of each known pool. */
    public synchronized List<PoolUsage> pools() {
        return List.copyOf(totals.values());
    }
}
