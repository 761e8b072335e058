// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

/**
 * User or system time of virtual threads that has not yet been subtracted from their carriers' pools. The kernel counts
 * it for the carriers. It is not known which pool carried which thread, so the pools share it in proportion to what
 * they used. Not thread-safe.
 */
public final class CarriedTime {
    private long nanos;
    private double share;

    /** Creates a time of 0. */
    public CarriedTime() {}

    /** Adds what virtual threads have used. */
    public void add(long more) {
        nanos += Math.max(0, more);
    }

    /** Returns whether there is nothing to subtract. */
    public boolean isEmpty() {
        return nanos == 0;
    }

    /**
     * Begins an interval.
     *
     * @param carrierNanos what all carriers have used in it; what exceeds this is subtracted in later intervals
     */
    public void begin(long carrierNanos) {
        share = carrierNanos <= nanos ? 1 : (double) nanos / (double) carrierNanos;
    }

    /** Returns the part of the time that a pool of carriers has used in the interval, which is subtracted from it. */
    public long takeFrom(long poolNanos) {
        long taken = Math.min(nanos, Math.round(share * (double) Math.max(0, poolNanos)));
        nanos -= taken;
        return taken;
    }
}
