// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import org.taskclock.monitor.usage.EndedPool;
import org.taskclock.monitor.usage.ThreadUsage;

/** Adds up the usage of the threads of a pool between two readings. */
final class SampledPool {
    final EndedPool.Key key;
    private int threads;
    private long cpuNanos;
    private long userNanos;
    private long waitNanos = -1;
    private long voluntary = -1;
    private long involuntary = -1;

    SampledPool(EndedPool.Key key) {
        this.key = key;
    }

    void addThread() {
        threads++;
    }

    void add(long cpu, long user) {
        cpuNanos += cpu;
        userNanos += user;
    }

    void addWait(long nanos) {
        waitNanos = Math.max(0, waitNanos) + nanos;
    }

    void addSwitches(long moreVoluntary, long moreInvoluntary) {
        voluntary = Math.max(0, voluntary) + moreVoluntary;
        involuntary = Math.max(0, involuntary) + moreInvoluntary;
    }

    boolean isEmpty() {
        return threads == 0 && cpuNanos == 0 && waitNanos <= 0;
    }

    /** Returns and resets the sums. */
    ThreadUsage take(int pid) {
        ThreadUsage usage = new ThreadUsage(
                pid,
                0,
                0,
                key.pool(),
                false,
                key.kind(),
                key.pool(),
                threads,
                cpuNanos,
                userNanos,
                waitNanos,
                voluntary,
                involuntary,
                '-');
        threads = 0;
        cpuNanos = 0;
        userNanos = 0;
        waitNanos = -1;
        voluntary = -1;
        involuntary = -1;
        return usage;
    }
}
