// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** Splits CPU time into user and system time so that neither part ever goes backwards. */
final class UserTime {
    private UserTime() {}

    /**
     * Returns the user part of {@code cpu}: as close to {@code target} as possible without letting user or system time
     * fall below the previous reading, whose total is {@code lastCpu} and whose user part is {@code lastUser}.
     */
    static long monotonic(long lastCpu, long lastUser, long cpu, long target) {
        return Math.min(Math.max(target, lastUser), lastUser + (cpu - lastCpu));
    }

    /**
     * Returns the share of {@code cpu} that the tick counts attribute to user mode, as the kernel's cputime_adjust
     * does.
     */
    static long scaled(long cpu, long virtNanos, long profNanos) {
        return profNanos <= 0 ? cpu : Math.min(cpu, (long) ((double) cpu * virtNanos / profNanos));
    }
}
