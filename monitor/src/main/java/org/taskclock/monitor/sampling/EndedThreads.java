// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.EndedPool;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The CPU time of threads that ended since their last reading or were never read: the CPU time of the process beyond
 * that of all tracked threads.
 */
final class EndedThreads {
    private static final long MILLISECOND = 1_000_000;
    /** The ended threads of all further pools are counted together, because thread names can be unlimited. */
    private static final int MAX_POOLS = 1_000;

    private final int pid;

    /**
     * CPU time of ended threads that no longer needs to be reported: from before the first reading, from the threads'
     * own readings, or already returned by {@link #advance}.
     */
    private long accountedNanos;

    private int count;

    /** CPU time that belongs to no tracked thread: before the first reading, and since then. */
    private long unwatchedNanos;

    private long watchedNanos;

    private final Map<EndedPool.Key, EndedPool> pools = new LinkedHashMap<>();
    /** The values of {@link #pools}; null if they have changed. */
    private List<EndedPool> poolList = List.of();

    EndedThreads(int pid) {
        this.pid = pid;
    }

    /** Excludes the CPU time of threads that ended before the first reading. */
    void start(long processNanos, long liveNanos) {
        accountedNanos = processNanos - liveNanos;
        unwatchedNanos = Math.max(0, accountedNanos);
    }

    void add(TrackedThread thread) {
        accountedNanos += thread.totalNanos;
        count++;
        EndedPool ended = new EndedPool(
                thread.pool(), thread.kind(thread.tid == pid), 1, thread.totalNanos, thread.watchedNanos());
        if (pools.size() >= MAX_POOLS && !pools.containsKey(ended.key())) {
            ended = new EndedPool(EndedPool.UNKNOWN, ThreadKind.NATIVE, 1, ended.totalNanos(), ended.watchedNanos());
        }
        pools.merge(ended.key(), ended, EndedPool::plus);
        poolList = null;
    }

    /** Returns the CPU time that the tracked threads had used when they were last read, by pool. */
    List<EndedPool> pools() {
        if (poolList == null) poolList = List.copyOf(pools.values());
        return poolList;
    }

    /**
     * Returns the CPU time of ended threads that was not reported before.
     *
     * @param uncertainty the error of the result, because threads run while they are read; a smaller result is kept for
     *     a later call
     */
    long advance(long processNanos, long liveNanos, long uncertainty) {
        long ended = processNanos - liveNanos - accountedNanos;
        if (ended <= uncertainty + MILLISECOND) return 0;
        accountedNanos += ended;
        watchedNanos += ended;
        return ended;
    }

    /** Returns the usage of the threads that ended since the last call. */
    ThreadUsage usage(long cpu, long user) {
        int threads = Math.max(1, count);
        count = 0;
        return new ThreadUsage(
                pid,
                0,
                0,
                EndedPool.UNKNOWN,
                false,
                ThreadKind.NATIVE,
                EndedPool.UNKNOWN,
                threads,
                cpu,
                user,
                -1,
                -1,
                -1,
                'X',
                unwatchedNanos + watchedNanos,
                watchedNanos);
    }
}
