// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.taskclock.metrics.ThreadKind;

/**
 * The usage of the pools and named accounts of a JVM over time. All arrays have one element per step; -1 means that
 * there is no data. Nanoseconds are those used in the step.
 *
 * @param from the start of the first step
 * @param to the end of the last step
 * @param times the start of each step, in milliseconds since 1970
 */
@SuppressWarnings("ArrayRecordComponent") // columns that are read once
public record PoolSeries(Instant from, Instant to, Duration step, long[] times, List<Row> pools, Totals totals) {
    /**
     * One pool, or one named account as a pool of kind ACCOUNT, whose usage is also in that of the other pools.
     *
     * @param threads the maximum number of threads; 0 for an account
     * @param waitNanos time spent runnable without a processor
     */
    @SuppressWarnings("ArrayRecordComponent")
    public record Row(
            String pool, ThreadKind kind, int[] threads, long[] userNanos, long[] systemNanos, long[] waitNanos) {
        public boolean isAccount() {
            return kind == ThreadKind.ACCOUNT;
        }

        /** Returns the CPU time of the pool in all steps. */
        public long cpuNanos() {
            return Totals.sum(userNanos) + Totals.sum(systemNanos);
        }
    }

    /**
     * The process and its control group.
     *
     * @param containerNanos CPU time of all processes of the control group
     * @param throttledNanos how long its CPU limit kept the group from running
     * @param limit the CPU limit of the group in processors; 0 if there is none, -1 if unknown
     */
    @SuppressWarnings("ArrayRecordComponent")
    public record Totals(
            long[] userNanos, long[] systemNanos, long[] containerNanos, long[] throttledNanos, double[] limit) {
        static long sum(long... nanos) {
            long sum = 0;
            for (long value : nanos) sum += Math.max(0, value);
            return sum;
        }
    }
}
