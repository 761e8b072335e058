// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * What a named account has used since the process started. No value ever decreases.
 *
 * @param type the name of its type
 * @param name the name of the account
 * @param cpuNanos CPU time in nanoseconds, user and system together, including open sections
 * @param userNanos the part of it that was spent in user mode; estimated from each thread's user time between two
 *     readings at least 250 us apart
 * @param waitNanos time that the threads were ready to run but had no processor, in closed sections; -1 if it is not
 *     counted, or unknown for a section, such as one on a virtual thread
 * @param allocatedBytes bytes of heap allocated in closed sections; -1 if they are not counted, or unknown for a
 *     section, such as one on a virtual thread
 * @param sections the number of closed sections
 * @param uncounted sections that are not included, because their thread's clock could not be read, such as that of a
 *     virtual thread without the agent
 * @param unclosed sections that were still open when their thread ended, or were discarded because a thread had 64 of
 *     them open
 * @param misclosed calls of {@link CpuSection#close()} on another thread or on a section that was not open
 * @param distribution the numbers of closed sections by CPU time, see {@link Distribution}; null if they are not
 *     counted
 */
public record AccountUsage(
        String type,
        String name,
        long cpuNanos,
        long userNanos,
        long waitNanos,
        long allocatedBytes,
        long sections,
        long uncounted,
        long unclosed,
        long misclosed,
        Distribution distribution) {
    /**
     * Returns what to subtract from the first reading of an account in order to have its usage since the readings
     * began, if the account was not there yet: nothing. The row {@value AccountReading#UNACCOUNTED} is an exception:
     * when a new type appears, it has all that the process has used before.
     *
     * @return the usage to subtract
     */
    public AccountUsage baseline() {
        boolean isRest = name.equals(AccountReading.UNACCOUNTED);
        return isRest ? this : new AccountUsage(type, name, 0, 0, 0, 0, 0, 0, 0, 0, null);
    }

    /**
     * Returns a quantile of the CPU time of sections.
     *
     * @param quantile from 0 to 1
     * @return nanoseconds; -1 if there is no distribution, or no section in it
     */
    public long quantileNanos(double quantile) {
        return distribution == null ? -1 : distribution.quantileNanos(quantile);
    }

    /**
     * Returns the part of the CPU time that was spent in the kernel.
     *
     * @return nanoseconds
     */
    public long systemNanos() {
        return cpuNanos - userNanos;
    }
}
