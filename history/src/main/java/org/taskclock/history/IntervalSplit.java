// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.time.Instant;

/**
 * Divides the usage of an interval among clock seconds, in proportion to their share of the interval. The parts add up
 * to the whole.
 */
final class IntervalSplit {
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /** Shorter parts of a second do not get a row of their own. */
    private static final long TOLERANCE_NANOS = 100_000_000;

    /** Longer intervals are treated as if they began later. */
    private static final int MAX_SECONDS = 600;

    /** Times that the table cannot store are mapped to the eight years after 1970, where they advance normally. */
    private static final int WRONG_TIMES = 1 << 28;

    final int firstSecond;
    final int seconds;
    private final double[] endShare;

    IntervalSplit(Instant end, long intervalNanos) {
        long length = Math.max(1, Math.min(intervalNanos, MAX_SECONDS * NANOS_PER_SECOND));
        long endSecond = end.getEpochSecond();
        // Relative to the second in which the interval ends, because epoch nanoseconds can overflow.
        long endNanos = end.getNano();
        long startNanos = endNanos - length;
        long first = Math.floorDiv(startNanos + TOLERANCE_NANOS, NANOS_PER_SECOND);
        long last = Math.floorDiv(endNanos - 1 - TOLERANCE_NANOS, NANOS_PER_SECOND);
        if (last <= first) {
            first = Math.floorDiv(startNanos + length / 2, NANOS_PER_SECOND);
            last = first;
        }
        firstSecond = (int) (isPossible(endSecond) ? endSecond + first : Math.floorMod(endSecond + first, WRONG_TIMES));
        seconds = (int) (last - first + 1);
        endShare = new double[seconds];
        for (int i = 0; i < seconds; i++)
            endShare[i] = ((first + i + 1) * NANOS_PER_SECOND - startNanos) / (double) length;
    }

    /** Returns whether the table can hold a time. */
    private static boolean isPossible(long second) {
        return second >= MAX_SECONDS && second <= Integer.MAX_VALUE - MAX_SECONDS;
    }

    /** Returns the part of a value that belongs to the second with this index; -1 if the value is unknown. */
    long part(long value, int index) {
        if (value < 0) return -1;
        return before(value, index + 1) - before(value, index);
    }

    private long before(long value, int index) {
        if (index == 0) return 0;
        return index == seconds ? value : Math.min(value, (long) (value * endShare[index - 1]));
    }
}
