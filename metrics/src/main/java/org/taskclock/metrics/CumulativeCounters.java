// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

/**
 * Splits the cumulative counters of a thread or a process into intervals, without losing or double-counting anything.
 * If a total decreases, nothing is counted until it exceeds its old value. Not thread-safe.
 */
public class CumulativeCounters {
    /** The last reading; -1 for what is unknown or was not read. */
    public final Counters total = new Counters();

    private final Counters counted = new Counters();

    /** The CPU time that {@link #exclude} has excluded. */
    private long excludedNanos;

    /** Creates counters that start at 0. */
    public CumulativeCounters() {}

    /** Excludes everything so far. */
    public final void exclude() {
        counted.cpuNanos = Math.max(0, total.cpuNanos);
        counted.userNanos = Math.max(0, total.userNanos);
        counted.waitNanos = total.waitNanos;
        counted.voluntary = total.voluntary;
        counted.involuntary = total.involuntary;
        excludedNanos = counted.cpuNanos;
    }

    /** Returns the CPU time that is excluded or was part of an interval. */
    public final long countedNanos() {
        return counted.cpuNanos;
    }

    /** Returns the CPU time that is not excluded and was part of an interval. */
    public final long watchedNanos() {
        return counted.cpuNanos - excludedNanos;
    }

    /** Returns whether there is CPU time that was not part of an interval. */
    public final boolean hasUncounted() {
        return total.cpuNanos != counted.cpuNanos;
    }

    /** Returns whether there is a time that was not part of an interval. */
    final boolean hasChanged() {
        return hasUncounted() || (total.waitNanos >= 0 && total.waitNanos != counted.waitNanos);
    }

    /**
     * Ends an interval. If its user time was not read, it has the previous ratio of user to system time.
     *
     * @param maxNanos the most CPU time that the interval can have; the rest is part of the next one
     * @param interval receives what was used in the interval
     */
    public final void advance(long maxNanos, Counters interval) {
        interval.cpuNanos = between(0, total.cpuNanos - counted.cpuNanos, maxNanos);
        long user = total.userNanos;
        // User time is the likely case.
        if (user < 0)
            user = counted.cpuNanos == 0
                    ? total.cpuNanos
                    : Math.round(total.cpuNanos * ((double) counted.userNanos / counted.cpuNanos));
        interval.userNanos = between(0, user - counted.userNanos, interval.cpuNanos);
        long wait = more(total.waitNanos, counted.waitNanos);
        interval.waitNanos = Math.min(wait, maxNanos - interval.cpuNanos);
        interval.voluntary = more(total.voluntary, counted.voluntary);
        interval.involuntary = more(total.involuntary, counted.involuntary);
        counted.cpuNanos += interval.cpuNanos;
        counted.userNanos += interval.userNanos;
        counted.waitNanos = Math.max(counted.waitNanos, total.waitNanos);
        counted.voluntary = Math.max(counted.voluntary, total.voluntary);
        counted.involuntary = Math.max(counted.involuntary, total.involuntary);
    }

    private static long between(long min, long value, long max) {
        return Math.max(min, Math.min(value, max));
    }

    private static long more(long total, long counted) {
        return total < 0 ? -1 : Math.max(0, total - Math.max(0, counted));
    }
}
