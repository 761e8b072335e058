// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * What a {@link CpuAccount} has counted, and what it could not count. Whoever bills by the first must look at the second,
 * or ask {@link #isComplete()}.
 *
 * @param cpuNanos CPU time of all sections in nanoseconds, user and system together; never less than in an earlier reading
 * @param allocatedBytes bytes of heap that the sections allocated; -1 if the account does not count them, or one of its
 *     sections could not
 * @param uncounted sections that are not in at all, as their thread's clock could not be read (-1: a virtual thread nobody
 *     accounts for), or as the account was done
 * @param unclosed sections that were open when their thread ended, of which cpuNanos has what an earlier reading saw, and
 *     those open when the account was done, which are in up to then
 * @param closedElsewhere sections that another thread closed, or tried to; they end there, with what their own thread had
 *     used by then
 * @param closedTwice times that a section was closed that was not open, which has no other effect
 */
public record CpuUsage(
        long cpuNanos, long allocatedBytes, long uncounted, long unclosed, long closedElsewhere, long closedTwice) {
    /**
     * Tells whether every section was entered, and closed where it was entered.
     *
     * @return false if one of the counts of faults is not 0
     */
    public boolean isComplete() {
        return (uncounted | unclosed | closedElsewhere | closedTwice) == 0;
    }
}
