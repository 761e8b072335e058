// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import org.HdrHistogram.Histogram;

/**
 * Errors of many readings. The error of a reading is 0 if it lies between the kernel's readings before and after it.
 * Used by one thread at a time.
 */
final class ReadingErrors {
    private static final int DIGITS = 3;

    private final Histogram sizes = new Histogram(DIGITS);
    private final Histogram widths = new Histogram(DIGITS);
    private long timed;
    private long quick;
    private long exact;
    private long sumAhead;
    private long worstAhead;
    private long worstBehind;

    /**
     * Records an error.
     *
     * @param error positive if ahead of the kernel, negative if behind it
     * @param width the distance between the kernel's two readings, within which no error is visible
     */
    void record(long error, long width) {
        sizes.recordValue(Math.abs(error));
        widths.recordValue(Math.max(width, 0));
        if (error == 0) exact++;
        sumAhead += error;
        worstAhead = Math.max(worstAhead, error);
        worstBehind = Math.max(worstBehind, -error);
    }

    /**
     * Records the time of a reading and of a system call after it. A reading that took less than half the time of the
     * system call made none.
     */
    void recordTime(long nanos, long kernelNanos) {
        timed++;
        if (nanos < kernelNanos / 2) quick++;
    }

    void add(ReadingErrors other) {
        sizes.add(other.sizes);
        widths.add(other.widths);
        timed += other.timed;
        quick += other.quick;
        exact += other.exact;
        sumAhead += other.sumAhead;
        worstAhead = Math.max(worstAhead, other.worstAhead);
        worstBehind = Math.max(worstBehind, other.worstBehind);
    }

    Summary summary(String kind) {
        return new Summary(
                kind,
                sizes.getTotalCount(),
                Math.round(100.0 * quick / Math.max(timed, 1)),
                exact,
                sizes.getValueAtPercentile(50),
                sizes.getValueAtPercentile(99),
                sizes.getValueAtPercentile(99.9),
                sizes.getValueAtPercentile(99.99),
                sizes.getValueAtPercentile(99.999),
                (double) sumAhead / Math.max(sizes.getTotalCount(), 1),
                worstAhead,
                worstBehind,
                widths.getValueAtPercentile(50));
    }

    /**
     * Statistics of errors in nanoseconds.
     *
     * @param quickPercent the share of readings that made no system call
     * @param exact the number of readings without an error
     * @param meanAhead positive if ahead of the kernel, negative if behind it
     */
    record Summary(
            String kind,
            long comparisons,
            long quickPercent,
            long exact,
            long p50,
            long p99,
            long p999,
            long p9999,
            long p99999,
            double meanAhead,
            long worstAhead,
            long worstBehind,
            long medianWidth) {
        /** The limit for the error of all but one in 10,000 readings. */
        static final long TARGET_NANOS = 1_000;

        boolean meetsTarget() {
            return p9999 < TARGET_NANOS;
        }
    }
}
