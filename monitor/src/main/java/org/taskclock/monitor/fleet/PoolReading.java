// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.taskclock.CpuTime;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.PoolUsage;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The usage of the pools of a JVM since the previous reading.
 *
 * @param pools each pool that has threads or used something; {@link ThreadUsage#threads} is the number of its threads.
 *     The CPU time of virtual threads, which only an agent knows, is included in that of their carriers. Named accounts
 *     are pools of kind ACCOUNT, whose CPU time is included in that of all threads.
 * @param yields calls of Thread.yield by pool, if an agent counts them
 * @param process the CPU time of the process since counting began
 * @param threads the threads that used something since the previous call of {@link PoolSampler#readRecent}; empty in
 *     the results of other methods
 */
public record PoolReading(
        List<ThreadUsage> pools, Map<PoolKey, Long> yields, CpuTime process, List<ThreadUsage> threads) {
    /** Creates a reading without threads. */
    public PoolReading(List<ThreadUsage> pools, Map<PoolKey, Long> yields, CpuTime process) {
        this(pools, yields, process, List.of());
    }

    PoolReading(List<ThreadUsage> pools, CpuTime process) {
        this(pools, Map.of(), process);
    }

    /** Returns the usages that the metrics count. */
    List<PoolUsage> usages() {
        List<PoolUsage> converted = new ArrayList<>(pools.size());
        for (ThreadUsage usage : pools) {
            if (usage.kind() == ThreadKind.ACCOUNT) continue;
            converted.add(new PoolUsage(
                    usage.pool(),
                    usage.kind(),
                    usage.threads(),
                    usage.userNanos(),
                    usage.systemNanos(),
                    usage.waitNanos(),
                    usage.voluntary(),
                    usage.involuntary(),
                    -1));
        }
        yields.forEach(
                (pool, count) -> converted.add(new PoolUsage(pool.pool(), pool.kind(), 0, 0, 0, -1, -1, -1, count)));
        return converted;
    }
}
