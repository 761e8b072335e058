// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import org.HdrHistogram.Histogram;

/** Errors of many readings: 0 where the reading lay between two of the kernel's. Not for several threads at once. */
final class Errors {
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
     * Records one.
     *
     * @param error positive: ahead of the kernel, negative: behind it
     * @param width how far the kernel's two readings are apart: what no error of this reading shows in
     */
    void record(long error, long width) {
        sizes.recordValue(Math.abs(error));
        widths.recordValue(Math.max(width, 0));
        if (error == 0) exact++;
        sumAhead += error;
        worstAhead = Math.max(worstAhead, error);
        worstBehind = Math.max(worstBehind, -error);
    }

    /** How long a reading took, and the kernel's after it: one that took less than half as long did not ask the kernel. */
    void time(long nanos, long kernelNanos) {
        timed++;
        if (nanos < kernelNanos / 2) quick++;
    }

    void add(Errors other) {
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
     * What is published of them, in nanoseconds; and how many readings did not ask the kernel.
     *
     * @param meanAhead positive: ahead of the kernel, negative: behind it
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
        /** One reading in 10,000 may be off by this much or more. */
        static final long TARGET_NANOS = 1_000;

        boolean meetsTarget() {
            return p9999 < TARGET_NANOS;
        }
    }
}
