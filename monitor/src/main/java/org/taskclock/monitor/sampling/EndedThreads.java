// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.Counters;
import org.taskclock.metrics.PoolKey;
import org.taskclock.monitor.usage.EndedPool;
import org.taskclock.monitor.usage.ThreadUsage;

/** What is known about threads that have ended since watching began. */
final class EndedThreads {
    /** The ended threads of all further pools are counted together, because thread names can be unlimited. */
    private static final int MAX_POOLS = 1_000;

    private final int pid;

    private int count;

    /** CPU time that belongs to no thread that was read: before the first reading, and since then. */
    private long unwatchedNanos;

    private long watchedNanos;

    private final Map<PoolKey, EndedPool> pools = new LinkedHashMap<>();
    /** The values of {@link #pools}; null if they have changed. */
    private List<EndedPool> poolList = List.of();

    EndedThreads(int pid) {
        this.pid = pid;
    }

    /** Sets the CPU time of threads that ended before the first reading. */
    void start(long nanos) {
        unwatchedNanos = Math.max(0, nanos);
    }

    void add(PoolKey pool, long totalNanos, long threadWatchedNanos) {
        count++;
        PoolKey key = pools.size() >= MAX_POOLS && !pools.containsKey(pool) ? PoolKey.ENDED : pool;
        EndedPool ended = new EndedPool(key.pool(), key.kind(), 1, totalNanos, threadWatchedNanos);
        pools.merge(key, ended, EndedPool::plus);
        poolList = null;
    }

    /** Returns the CPU time that the threads had used when they were last read, by pool. */
    List<EndedPool> pools() {
        if (poolList == null) poolList = List.copyOf(pools.values());
        return poolList;
    }

    /**
     * Returns the usage of the threads that ended since the last call.
     *
     * @param used what they had used after their last readings
     */
    ThreadUsage usage(Counters used) {
        int threads = Math.max(1, count);
        count = 0;
        watchedNanos += used.cpuNanos;
        return ThreadUsage.ofGroup(pid, PoolKey.ENDED, threads)
                .cpu(used.cpuNanos, used.userNanos)
                .state('X')
                .total(unwatchedNanos + watchedNanos, watchedNanos)
                .build();
    }
}
