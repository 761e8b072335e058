// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

/**
 * The time by which the age of rows is judged. It follows the wall clock, but at most {@value #SPEED} times as fast as
 * time passes. So a clock that is set a year ahead for an hour makes the rows ten hours older, not a year. It is kept
 * in the file, because the clock may be wrong when the next process starts. After a month without a process, it takes
 * three days to arrive at the wall clock, and rows are kept longer meanwhile.
 *
 * <p>Not thread-safe.
 */
final class RetentionClock {
    /** How much faster than time this clock can be. */
    static final int SPEED = 10;

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /** In epoch seconds. */
    private long time;

    /** Until when {@link #time} has followed, as of System.nanoTime. */
    private long followedAt;

    /**
     * Creates a clock.
     *
     * @param time the time in epoch seconds that {@link #time} had when a process last wrote the history; 0 if none has
     * @param wallTime the time of the wall clock in epoch seconds
     * @param nanoTime the time as of {@link System#nanoTime}
     */
    RetentionClock(long time, long wallTime, long nanoTime) {
        this.time = time == 0 ? wallTime : time;
        followedAt = nanoTime;
    }

    /** Follows the wall clock, and returns the time in epoch seconds at which rows have their age. */
    long now(long wallTime, long nanoTime) {
        long seconds = Math.max(0, (nanoTime - followedAt) / NANOS_PER_SECOND);
        followedAt += seconds * NANOS_PER_SECOND;
        long most = SPEED * seconds;
        time += Math.max(-most, Math.min(most, wallTime - time));
        return Math.min(time, wallTime);
    }

    /** Returns the time in epoch seconds that the next process continues with. */
    long time() {
        return time;
    }
}
