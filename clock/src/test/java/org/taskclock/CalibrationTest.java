// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the status tells about the counter, on every rung. */
@Tag("contract")
class CalibrationTest {
    /** A base may live so long, once it has been doubled for the last time. */
    private static final long MOST_BASE_NANOS = 2_000_000;

    private static final double MEASURED_NANOS = 200e6;

    @Test
    void shouldTellHowFastTheCounterRuns() throws InterruptedException {
        // Asked before, so that the library is loaded and has the time that it needs.
        ClockStatus.Calibration early = TaskClock.status().calibration();
        if (!Expected.rung().startsWith("rseq")) {
            assertThat(early).isNull();
            return;
        }
        double hertz = measure();
        ClockStatus.Calibration calibration = TaskClock.status().calibration();
        assertThat((double) calibration.counterHertz()).isCloseTo(hertz, within(hertz / 100));
        assertThat(calibration.overNanos()).isPositive();
        assertThat(calibration.baseNanos()).isBetween(1L, MOST_BASE_NANOS);
    }

    /** The counter's rate by System.nanoTime. */
    private static double measure() throws InterruptedException {
        long nanos = System.nanoTime();
        long counts = Os.counter();
        Thread.sleep((long) (MEASURED_NANOS / 1e6));
        long counted = Os.counter() - counts;
        return counted * 1e9 / (System.nanoTime() - nanos);
    }
}
