// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Converts times of System.nanoTime to wall clock time. If the wall clock is set while the exporter runs, the
 * conversion follows it. It does not follow small corrections, so that the start time of a counter does not change with
 * each push. Thread-safe.
 */
final class EpochClock {
    private static final long MAX_DRIFT_NANOS = 1_000_000_000;

    private final LongSupplier wallClockNanos;
    private final LongSupplier nanoTime;
    private long offset;

    EpochClock() {
        this(() -> TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()), System::nanoTime);
    }

    EpochClock(LongSupplier wallClockNanos, LongSupplier nanoTime) {
        this.wallClockNanos = wallClockNanos;
        this.nanoTime = nanoTime;
        offset = wallClockNanos.getAsLong() - nanoTime.getAsLong();
    }

    /** Checks whether the wall clock was set. */
    synchronized void refresh() {
        long now = wallClockNanos.getAsLong() - nanoTime.getAsLong();
        if (Math.abs(now - offset) > MAX_DRIFT_NANOS) offset = now;
    }

    /** Returns nanoseconds since 1970. */
    synchronized long epochNanos(long time) {
        return time + offset;
    }
}
