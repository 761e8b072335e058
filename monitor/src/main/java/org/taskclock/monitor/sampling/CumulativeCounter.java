// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

/**
 * Splits a cumulative counter into intervals without losing or double-counting anything. What exceeds an interval's
 * limit is counted in the next one. If the total decreases, nothing is counted until it exceeds its old value.
 */
final class CumulativeCounter {
    private long counted;

    CumulativeCounter(long start) {
        counted = start;
    }

    /** Returns the part of the total that belongs to this interval, at most {@code limit}. */
    long advance(long total, long limit) {
        long increase = Math.max(0, Math.min(total - counted, limit));
        counted += increase;
        return increase;
    }

    /** Returns the part of the total that has been counted so far, including the value at the start. */
    long counted() {
        return counted;
    }
}
