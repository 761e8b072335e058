// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

/**
 * The times of periodic readings, which keep their rate: after a reading that was late, the next ones follow at
 * intervals of at least half a period until the schedule is met again. Times are those of System.nanoTime.
 */
final class Schedule {
    /** Readings that are later than this are skipped, for instance after this process was stopped. */
    private static final int MAX_PERIODS_LATE = 10;

    /** When the next reading would be due if none had been late. */
    private long deadline;

    private long due;

    /** Creates a schedule whose first reading is due at the given time. */
    Schedule(long first) {
        restart(first);
    }

    /** Sets the time of the next reading, whatever was missed before. */
    void restart(long next) {
        deadline = next;
        due = next;
    }

    /** Returns when the next reading is due. */
    long due() {
        return due;
    }

    /** Schedules the next reading, given that the previous one begins now. */
    void advance(long now, long periodNanos) {
        if (now - deadline > MAX_PERIODS_LATE * periodNanos) deadline = now;
        deadline += periodNanos;
        due = Math.max(deadline - now, periodNanos / 2) + now;
    }
}
