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
    /** Identifies a pool. */
    record Key(String pool, ThreadKind kind) {}

    static PoolUsage none(Key key) {
        return new PoolUsage(key.pool, key.kind, 0, 0, 0, -1, -1, -1, -1);
    }

    Key key() {
        return new Key(pool, kind);
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
                sum(userNanos, other.userNanos),
                sum(systemNanos, other.systemNanos),
                sum(waitNanos, other.waitNanos),
                sum(voluntary, other.voluntary),
                sum(involuntary, other.involuntary),
                sum(yields, other.yields));
    }

    static long sum(long a, long b) {
        if (a < 0) return Math.max(-1, b);
        return b < 0 ? a : a + b;
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
