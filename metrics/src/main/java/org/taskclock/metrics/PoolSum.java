// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

/** Adds up what the threads of a pool use between two readings. Not thread-safe. */
public final class PoolSum {
    private final PoolKey key;
    private final Counters sum = new Counters();
    private int threads;
    private long guessedNanos;

    PoolSum(PoolKey key) {
        this.key = key;
    }

    /** Returns which pool this is. */
    public PoolKey key() {
        return key;
    }

    /** Returns the number of live threads. */
    public int threads() {
        return threads;
    }

    /** Returns what was used. */
    public Counters sum() {
        return sum;
    }

    /** Returns whether most of the CPU time is of threads whose kind is known from their names only. */
    public boolean isGuessed() {
        return guessedNanos > sum.cpuNanos / 2;
    }

    void addThread() {
        threads++;
    }

    void add(Counters more, boolean isGuessed) {
        sum.add(more);
        if (isGuessed) guessedNanos += more.cpuNanos;
    }

    boolean isEmpty() {
        return threads == 0 && sum.cpuNanos == 0 && sum.waitNanos <= 0;
    }

    void clear() {
        sum.clear();
        threads = 0;
        guessedNanos = 0;
    }
}
