// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** Steers user time towards what the kernel says of it, so that the parts of a growing total never go backwards. */
final class Split {
    private Split() {}

    /**
     * The user part of {@code cpu}: as near to {@code target} as it gets when neither user nor system may be less than in
     * the reading before, of which {@code lastUser} was the user part.
     */
    static long user(long lastCpu, long lastUser, long cpu, long target) {
        return Math.min(Math.max(target, lastUser), lastUser + (cpu - lastCpu));
    }

    /** The share of {@code cpu} that the tick counts give to user, as the kernel's cputime_adjust scales them. */
    static long scaled(long cpu, long virtNanos, long profNanos) {
        return profNanos <= 0 ? cpu : Math.min(cpu, (long) ((double) cpu * virtNanos / profNanos));
    }
}
