// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * One consistent reading of a CPU clock, or the difference of two. In nanoseconds; the origin is the start of the thread
 * or process that was read.
 *
 * <p>{@code userNanos + systemNanos == cpuNanos} in every reading and every difference of readings. What could not be
 * read is {@link #UNKNOWN}, three times -1.
 *
 * @param cpuNanos CPU time used, user and system together
 * @param userNanos the part used in user mode
 * @param systemNanos the part used in the kernel on the thread's behalf
 */
public record CpuTime(long cpuNanos, long userNanos, long systemNanos) {
    /** A reading that could not be taken: all parts are -1. */
    public static final CpuTime UNKNOWN = new CpuTime(-1, -1, -1);

    /**
     * Returns the CPU time used since an earlier reading of the same clock.
     *
     * @param earlier the reading to start from
     * @return the difference; {@link #UNKNOWN} where either reading is
     */
    public CpuTime minus(CpuTime earlier) {
        if (!isKnown() || !earlier.isKnown()) return UNKNOWN;
        return new CpuTime(
                cpuNanos - earlier.cpuNanos, userNanos - earlier.userNanos, systemNanos - earlier.systemNanos);
    }

    /**
     * Tells whether this is a reading at all.
     *
     * @return false for {@link #UNKNOWN}
     */
    public boolean isKnown() {
        return cpuNanos != -1;
    }
}
