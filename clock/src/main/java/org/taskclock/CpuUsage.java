// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * The CPU time that a {@link CpuAccount} has counted, and what it could not count. Before billing by {@code cpuNanos},
 * check the other counts or {@link #isComplete()}.
 *
 * @param cpuNanos CPU time of all sections in nanoseconds, user and system together; never less than in an earlier
 *     reading
 * @param allocatedBytes bytes of heap that the sections allocated; -1 if the account does not count them, or if they
 *     are unknown for a section, such as one on a virtual thread
 * @param uncounted sections that are not included, because their thread's clock could not be read (a virtual thread
 *     without the agent) or because the account had been ended
 * @param unclosed sections that were still open when their thread ended (included up to the account's last reading) or
 *     when the account was ended (included up to then)
 * @param closedElsewhere calls of {@link CpuSection#close()} on another thread than the section's; they have no other
 *     effect, so the section counts until its own thread closes it
 * @param closedTwice calls of {@link CpuSection#close()} on a section that was not open; they have no other effect
 */
public record CpuUsage(
        long cpuNanos, long allocatedBytes, long uncounted, long unclosed, long closedElsewhere, long closedTwice) {
    /**
     * Returns whether every section was counted, and was closed exactly once, on its own thread.
     *
     * @return false if one of the error counts is not 0
     */
    public boolean isComplete() {
        return (uncounted | unclosed | closedElsewhere | closedTwice) == 0;
    }
}
