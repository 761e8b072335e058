// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A limit of an account, and when its sections should look whether it is reached: adding up all threads at each close would
 * be dear. Each keeps to itself what it has used, up to its share of half of what is left; once the sum of what they
 * did report is the other half, somebody looks. So sections that are closed cannot get past the limit unseen.
 */
final class CpuLimit {
    /** Near the limit shares get no smaller: a section may exceed it by so much of it. */
    private static final int FINEST = 1000;

    private final long nanos;
    private final Runnable callback;
    private final AtomicBoolean isReached = new AtomicBoolean();
    private final AtomicLong reported = new AtomicLong();
    private volatile long lookAt;
    private volatile long allowance;

    CpuLimit(long nanos, Runnable callback) {
        this.nanos = nanos;
        this.callback = callback;
        this.lookAt = nanos / 2;
    }

    /** What a section may keep to itself. */
    long allowance() {
        return allowance;
    }

    /** A section reports so much more. True if it is time to look. */
    boolean add(long used) {
        return reported.addAndGet(used) >= lookAt && !isReached.get();
    }

    /** What was reported until now, to be given back with the total that is read after this. */
    long reported() {
        return reported.get();
    }

    /** Somebody has looked. True if it is reached, as this finds out first. */
    boolean isReachedNow(long before, long total, int sections) {
        reported.addAndGet(-before);
        long left = nanos - total;
        if (left <= 0) return isReached.compareAndSet(false, true);
        lookAt = left / 2;
        allowance = Math.max(left / 2 / Math.max(sections, 1), nanos / FINEST);
        return false;
    }

    boolean isReached() {
        return isReached.get();
    }

    void call() {
        callback.run();
    }
}
