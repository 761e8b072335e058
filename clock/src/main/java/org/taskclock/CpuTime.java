// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * A consistent reading of a CPU clock, or the difference between two readings, in nanoseconds. The origin of a reading
 * is the start of the thread or process.
 *
 * <p>In every valid reading and difference, {@code userNanos + systemNanos == cpuNanos}. A failed reading is
 * {@link #UNKNOWN}, in which all three values are -1.
 *
 * @param cpuNanos CPU time used, user and system together
 * @param userNanos the part spent in user mode
 * @param systemNanos the part spent in the kernel
 */
public record CpuTime(long cpuNanos, long userNanos, long systemNanos) {
    /** A failed reading: all values are -1. */
    public static final CpuTime UNKNOWN = new CpuTime(-1, -1, -1);

    /**
     * Returns the CPU time used since an earlier reading of the same clock.
     *
     * @param earlier the reading to subtract
     * @return the difference; {@link #UNKNOWN} if either reading is unknown
     */
    public CpuTime minus(CpuTime earlier) {
        if (!isKnown() || !earlier.isKnown()) return UNKNOWN;
        return new CpuTime(
                cpuNanos - earlier.cpuNanos, userNanos - earlier.userNanos, systemNanos - earlier.systemNanos);
    }

    /**
     * Returns whether this reading is valid.
     *
     * @return false for {@link #UNKNOWN}
     */
    public boolean isKnown() {
        return cpuNanos != -1;
    }
}
