// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

/**
 * The usage of the threads of a pool, in one interval or in total. A negative number means unknown.
 *
 * @param pool the threads' name with each number replaced with #
 * @param threads the number of live threads
 * @param userNanos CPU time in user mode
 * @param systemNanos CPU time in the kernel
 * @param waitNanos time spent runnable without a processor
 * @param voluntary context switches because a thread blocked
 * @param involuntary context switches because a thread was preempted or yielded
 * @param yields calls of Thread.yield
 */
public record PoolUsage(
        String pool,
        ThreadKind kind,
        int threads,
        long userNanos,
        long systemNanos,
        long waitNanos,
        long voluntary,
        long involuntary,
        long yields) {
    static PoolUsage of(PoolSum pool) {
        return of(pool.key(), pool.threads(), pool.sum());
    }

    /** Returns the usage of a pool whose calls of Thread.yield are unknown. */
    public static PoolUsage of(PoolKey key, int threads, Counters used) {
        return new PoolUsage(
                key.pool(),
                key.kind(),
                threads,
                used.userNanos,
                used.cpuNanos - used.userNanos,
                used.waitNanos,
                used.voluntary,
                used.involuntary,
                -1);
    }

    static PoolUsage none(PoolKey key) {
        return new PoolUsage(key.pool(), key.kind(), 0, 0, 0, -1, -1, -1, -1);
    }

    PoolKey key() {
        return new PoolKey(pool, kind);
    }

    /** Returns the CPU time. */
    public long cpuNanos() {
        return Math.max(0, userNanos) + Math.max(0, systemNanos);
    }

    /**
     * Returns the sum, with the key of this usage. Values that are known in only one of the two are taken from that
     * one.
     */
    PoolUsage plus(PoolUsage other) {
        return new PoolUsage(
                pool,
                kind,
                threads + other.threads,
                Counters.sum(userNanos, other.userNanos),
                Counters.sum(systemNanos, other.systemNanos),
                Counters.sum(waitNanos, other.waitNanos),
                Counters.sum(voluntary, other.voluntary),
                Counters.sum(involuntary, other.involuntary),
                Counters.sum(yields, other.yields));
    }

    /** Returns the same usage with less CPU time. */
    PoolUsage minusCpu(long user, long system) {
        return new PoolUsage(
                pool, kind, threads, userNanos - user, systemNanos - system, waitNanos, voluntary, involuntary, yields);
    }

    PoolUsage withThreads(int count) {
        return new PoolUsage(pool, kind, count, userNanos, systemNanos, waitNanos, voluntary, involuntary, yields);
    }
}
