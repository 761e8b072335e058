// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

/**
 * Splits a cumulative counter into intervals without losing or double-counting anything. What exceeds the limit of an
 * interval is counted in the next one; if the total goes back, nothing is counted until it exceeds its old value.
 */
final class CumulativeCounter {
    private long counted;

    CumulativeCounter(long start) {
        counted = start;
    }

    /** Returns the part of the total that belongs to this interval, {@code limit} at most. */
    long advance(long total, long limit) {
        long increase = Math.max(0, Math.min(total - counted, limit));
        counted += increase;
        return increase;
    }
}
