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
    private long guessedNanos;
    private long waitNanos = -1;
    private long voluntary = -1;
    private long involuntary = -1;

    SampledPool(EndedPool.Key key) {
        this.key = key;
    }

    void addThread() {
        threads++;
    }

    /** Adds CPU time; {@code isGuessed} if the kind of the thread is known from its name only. */
    void add(long cpu, long user, boolean isGuessed) {
        cpuNanos += cpu;
        userNanos += user;
        if (isGuessed) guessedNanos += cpu;
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

    /** Returns and resets the sums. The name counts as truncated if most of it was added under a guess. */
    ThreadUsage take(int pid) {
        ThreadUsage usage = new ThreadUsage(
                pid,
                0,
                0,
                key.pool(),
                guessedNanos > cpuNanos / 2,
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
        guessedNanos = 0;
        waitNanos = -1;
        voluntary = -1;
        involuntary = -1;
        return usage;
    }
}
