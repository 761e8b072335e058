// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

/** Adds up the usage of the threads of one pool of this process during a reading. */
final class OwnPool {
    private final PoolUsage.Key key;
    private int threads;
    private long userNanos;
    private long systemNanos;
    private long waitNanos = -1;
    private long voluntary = -1;
    private long involuntary = -1;

    OwnPool(PoolUsage.Key key) {
        this.key = key;
    }

    PoolUsage.Key key() {
        return key;
    }

    /** Adds a thread that has not run since the last reading. */
    void addIdle() {
        threads++;
    }

    /** Adds a thread and its usage. */
    void add(long user, long system) {
        threads++;
        userNanos += user;
        systemNanos += system;
    }

    /** Adds the wait time and the context switches of a thread; -1 is unknown. */
    void addCounters(long wait, long voluntarySwitches, long involuntarySwitches) {
        waitNanos = PoolUsage.sum(waitNanos, wait);
        voluntary = PoolUsage.sum(voluntary, voluntarySwitches);
        involuntary = PoolUsage.sum(involuntary, involuntarySwitches);
    }

    /** Returns and resets the sums. */
    PoolUsage take() {
        PoolUsage sum = new PoolUsage(
                key.pool(), key.kind(), threads, userNanos, systemNanos, waitNanos, voluntary, involuntary, -1);
        threads = 0;
        userNanos = 0;
        systemNanos = 0;
        waitNanos = -1;
        voluntary = -1;
        involuntary = -1;
        return sum;
    }
}
