// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The CPU time limit of an account. Summing the usage of all threads at each close would be too slow. Instead, half of
 * the remaining time is divided among the threads, and a thread reports its usage only when it exceeds its part. When
 * the reports add up to the other half, the reporting thread checks the limit. Closed sections therefore cannot exceed
 * the limit unnoticed.
 */
final class CpuLimit {
    /** The smallest allowance is the limit divided by this. A thread may exceed the limit by that much. */
    private static final int MIN_ALLOWANCE_DIVISOR = 1000;

    private final long nanos;
    private final Runnable callback;
    private final AtomicBoolean isReached = new AtomicBoolean();
    private final AtomicLong reported = new AtomicLong();
    private volatile long checkThreshold;

    private volatile long allowance;

    CpuLimit(long nanos, Runnable callback) {
        this.nanos = nanos;
        this.callback = callback;
        this.checkThreshold = nanos / 2;
    }

    /** Has the next report check the limit, because the account may have used it already. Returns this. */
    CpuLimit checkedFirst() {
        checkThreshold = 0;
        return this;
    }

    /** Returns how much usage a thread may leave unreported. */
    long allowance() {
        return allowance;
    }

    /** Adds to the reported usage. Returns whether the limit must be checked now. */
    boolean report(long used) {
        return reported.addAndGet(used) >= checkThreshold && !isReached.get();
    }

    /** Returns the reported usage, to pass to {@link #update} with a total read afterward. */
    long reported() {
        return reported.get();
    }

    /** Updates the thresholds. Returns true if this call is the first to find the limit reached. */
    boolean update(long reportedBefore, long total, int threads) {
        reported.addAndGet(-reportedBefore);
        long left = nanos - total;
        if (left <= 0) return isReached.compareAndSet(false, true);
        checkThreshold = Math.max(left / 2, nanos / MIN_ALLOWANCE_DIVISOR);
        allowance = Math.max(left / 2 / Math.max(threads, 1), nanos / MIN_ALLOWANCE_DIVISOR);
        return false;
    }

    boolean isReached() {
        return isReached.get();
    }

    void runCallback() {
        callback.run();
    }
}
