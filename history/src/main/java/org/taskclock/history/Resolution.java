// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.time.Instant;

/**
 * The steps of a series, and the resolution of the table that it is read from.
 *
 * @param table the resolution of the table in seconds: 1, 10, or 60
 * @param step in seconds, a multiple of it
 * @param from the start of the first step in epoch seconds
 */
record Resolution(int table, int step, int from, int steps) {
    private static final int[] STEPS = {
        1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400
    };

    /** More steps than a screen has pixels are useless, and each takes memory. */
    private static final int MAX_POINTS = 100_000;

    /**
     * Chooses the finest possible steps.
     *
     * @param hasSeconds whether there are rows of one second in the whole range
     * @param hasTenSeconds whether there are rows of ten seconds in the whole range
     */
    static Resolution of(Instant from, Instant to, int maxPoints, boolean hasSeconds, boolean hasTenSeconds) {
        if (maxPoints < 1) throw new IllegalArgumentException("not a positive number of points: " + maxPoints);
        if (!from.isBefore(to)) throw new IllegalArgumentException("the range is empty: " + from + " to " + to);
        long first = first(from);
        long last = Math.min(Integer.MAX_VALUE, to.getEpochSecond() + (to.getNano() > 0 ? 1 : 0));
        last = Math.max(first + 1, last);
        int finest = hasSeconds ? 1 : hasTenSeconds ? 10 : 60;
        int points = Math.min(maxPoints, MAX_POINTS);
        for (int step : STEPS) {
            long start = first / step * step;
            long steps = (last - start + step - 1) / step;
            if (step % finest == 0 && steps <= points)
                return new Resolution(table(step, finest, hasTenSeconds), step, (int) start, (int) steps);
        }
        int day = STEPS[STEPS.length - 1];
        int step = (int) ((last - first) / points / day + 1) * day;
        long start = first / step * step;
        return new Resolution(60, step, (int) start, (int) ((last - start + step - 1) / step));
    }

    /** Returns the first second. The history covers 1970 to 2038; ranges outside have no rows. */
    static int first(Instant from) {
        return (int) Math.max(0, Math.min(Integer.MAX_VALUE - 1, from.getEpochSecond()));
    }

    /** If the file is too large, rows of ten seconds may be deleted although those of one second are kept. */
    private static int table(int step, int finest, boolean hasTenSeconds) {
        if (step % 60 == 0) return 60;
        return step % 10 == 0 && hasTenSeconds ? 10 : finest;
    }

    int to() {
        return (int) Math.min(Integer.MAX_VALUE, from + (long) step * steps);
    }

    long[] times() {
        long[] times = new long[steps];
        for (int i = 0; i < steps; i++) times[i] = (from + (long) step * i) * 1_000;
        return times;
    }

    int index(int time) {
        return Math.max(0, Math.min(steps - 1, (time - from) / step));
    }
}
