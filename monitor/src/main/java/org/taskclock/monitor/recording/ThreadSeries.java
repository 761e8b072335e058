// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.taskclock.metrics.ThreadKind;

/**
 * The usage of the busiest threads of a JVM over time. All arrays have one element per step; -1 means that there is no
 * data. Nanoseconds are those used in the step.
 *
 * @param from the start of the first step
 * @param to the end of the last step
 * @param times the start of each step, in milliseconds since 1970
 * @param threads the busiest thread first
 */
@SuppressWarnings("ArrayRecordComponent") // columns that are read once
public record ThreadSeries(Instant from, Instant to, Duration step, long[] times, List<Row> threads) {
    /** One thread. */
    @SuppressWarnings("ArrayRecordComponent")
    public record Row(int tid, String name, String pool, ThreadKind kind, long[] userNanos, long[] systemNanos) {
        /** Returns the CPU time of the thread in all steps. */
        public long cpuNanos() {
            return PoolSeries.Totals.sum(userNanos) + PoolSeries.Totals.sum(systemNanos);
        }
    }
}
