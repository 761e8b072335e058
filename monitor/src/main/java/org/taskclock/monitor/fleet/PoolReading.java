// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.List;
import java.util.Map;
import org.taskclock.CpuTime;
import org.taskclock.monitor.usage.EndedPool;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * What the pools of a JVM used since the previous reading.
 *
 * @param pools one for each pool that has threads or used something; {@link ThreadUsage#threads} is the number of its
 *     threads. CPU time of virtual threads, which only an agent knows, is included in that of their carriers.
 * @param yields calls of Thread.yield by pool; only those that an agent counts
 * @param process the CPU time of the process since counting began
 * @param threads those that used something since the previous call of {@link PoolSampler#readRecent}; only that method
 *     returns them
 */
public record PoolReading(
        List<ThreadUsage> pools, Map<EndedPool.Key, Long> yields, CpuTime process, List<ThreadUsage> threads) {
    /** Creates a reading without threads. */
    public PoolReading(List<ThreadUsage> pools, Map<EndedPool.Key, Long> yields, CpuTime process) {
        this(pools, yields, process, List.of());
    }

    PoolReading(List<ThreadUsage> pools, CpuTime process) {
        this(pools, Map.of(), process);
    }
}
