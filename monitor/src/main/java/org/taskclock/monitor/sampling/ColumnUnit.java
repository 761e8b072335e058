// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

/** What the amount of a {@link ThreadColumn} is, and how it is shown. */
public enum ColumnUnit {
    /** A number that identifies something; 0 if there is none. */
    ID(7),
    /** Nanoseconds, shown in percent of the interval. */
    PERCENT(5),
    /** Nanoseconds, shown in percent of the interval, that were estimated. */
    ESTIMATE(5),
    /** Nanoseconds, shown in percent of the CPU time that the container may use. */
    LIMIT(5),
    /** Events in the interval, shown per second. */
    RATE(5),
    /** Bytes in the interval, shown per second. */
    BYTES(7),
    /** Nanoseconds, shown in seconds. */
    SECONDS(7),
    /** Nanoseconds, shown in seconds or a part of them. */
    DURATION(7),
    /** A letter; running threads come first. */
    STATE(1),
    TEXT(0),
    /** A number with a sign, which follows from earlier intervals. */
    DIFFERENCE(6),
    DRAWING(0);

    /** Width on a terminal, unless a column has its own. */
    final int width;

    ColumnUnit(int width) {
        this.width = width;
    }

    /** Returns whether the lowest value comes first. */
    public boolean isAscending() {
        return this == TEXT || this == ID;
    }

    /** Returns an amount as it is shown, or -1 if it is unknown. */
    double shown(long amount, Interval interval) {
        if (amount < 0) return -1;
        double cores = interval.totals().containerCores();
        return switch (this) {
            case PERCENT, ESTIMATE -> interval.percent(amount);
            case LIMIT -> cores <= 0 ? -1 : interval.percent(amount) / cores;
            case RATE, BYTES -> amount * 1e9 / interval.intervalNanos();
            case SECONDS, DURATION -> amount / 1e9;
            default -> amount;
        };
    }
}
