// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.Arrays;

/** Measured values, of which means and quantiles are asked. */
final class Samples {
    private final long[] values;
    private int count;
    private boolean sorted;

    Samples(int room) {
        values = new long[room];
    }

    void add(long value) {
        values[count++] = value;
        sorted = false;
    }

    /** How many it takes. */
    int room() {
        return values.length;
    }

    double mean() {
        return Arrays.stream(values, 0, count).average().orElseThrow();
    }

    long quantile(double part) {
        sort();
        return values[(int) (part * (count - 1))];
    }

    /** The mean of the middle half: as steady as the median, and finer than the steps of the clock that measured. */
    double middle() {
        sort();
        return Arrays.stream(values, count / 4, count - count / 4).average().orElseThrow();
    }

    private void sort() {
        if (!sorted) Arrays.sort(values, 0, count);
        sorted = true;
    }

    double partAbove(double limit) {
        return (double) Arrays.stream(values, 0, count)
                        .filter(value -> value > limit)
                        .count()
                / count;
    }
}
