// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.Arrays;
import org.apache.commons.math3.stat.StatUtils;

/** The times of many brackets in nanoseconds. A bracket is a pair of time stamps around one or more readings. */
final class BracketSamples {
    private final double[] nanos;
    private int count;
    private boolean sorted;

    BracketSamples(int capacity) {
        nanos = new double[capacity];
    }

    void add(long time) {
        nanos[count++] = time;
        sorted = false;
    }

    double mean() {
        return StatUtils.mean(nanos, 0, count);
    }

    /** Returns a quantile from 0 to 1. */
    double quantile(double fraction) {
        return RoundStatistics.quantile(fraction, Arrays.copyOf(nanos, count));
    }

    /**
     * Returns the mean of the middle half, which is as stable as the median and has a finer resolution than the clock.
     */
    double middle() {
        if (!sorted) Arrays.sort(nanos, 0, count);
        sorted = true;
        return StatUtils.mean(nanos, count / 4, count - 2 * (count / 4));
    }

    /** Returns the share of brackets that took longer than a limit. */
    double shareAbove(double limit) {
        return (double) Arrays.stream(nanos, 0, count)
                        .filter(time -> time > limit)
                        .count()
                / count;
    }
}
