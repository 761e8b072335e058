// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the calibration and accuracy that the status reports, on every backend. */
@Tag("contract")
class CalibrationTest {
    private static final long DEFAULT_BUDGET_NANOS = 100;

    private static final int MEASURED_MILLIS = 200;
    /** The first intervals must agree to about one part in 2,000, so the rate is that accurate from the start. */
    private static final int RATE_PRECISION = 2_000;

    private static final int MONOTONIC_RAW = 4;
    private static final int TRIES = 20;
    private static final long SPIN_NANOS = 200_000_000;
    private static final long MAX_SPIN_NANOS = 5_000_000_000L;

    @Test
    void shouldReportTheCounterRate() throws InterruptedException {
        // Loads the library, and gives it time to calibrate the counter.
        ClockStatus.Calibration early = TaskClock.status().calibration();
        if (!ExpectedBackend.name().startsWith("rseq")) {
            assertThat(early).isNull();
            return;
        }
        double hertz = measureHertz();
        ClockStatus.Calibration calibration = TaskClock.status().calibration();
        assertThat((double) calibration.counterHertz()).isCloseTo(hertz, within(hertz / RATE_PRECISION));
        assertThat(calibration.overNanos()).isPositive();
        assertThat(calibration.resets()).isNotNegative();
    }

    @Test
    void shouldReportTheAccuracyBudgetAndBaseLife() {
        ClockStatus.Accuracy accuracy = TaskClock.status().accuracy();
        if (!ExpectedBackend.name().startsWith("rseq")) {
            assertThat(accuracy).isNull();
            return;
        }
        assertThat(accuracy.budgetNanos()).isEqualTo(DEFAULT_BUDGET_NANOS);
        assertThat(accuracy.lifeNanos()).isBetween(0L, ContractVerifier.MAX_BASE_LIFE_NANOS);
        assertThat(accuracy.observedNanos()).isNotNegative();
    }

    /** A thread that spins on the clock uses up bases. Each of them shows how much time the host has stolen. */
    @Test
    void shouldObserveStolenTime() throws InterruptedException {
        if (!ExpectedBackend.name().startsWith("rseq")) return;
        ClockStatus.Accuracy before = TaskClock.status().accuracy();
        long spun = 0;
        long observed = 0;
        // Only bases that did not end with a context switch count. On a busy machine there are few of them.
        while (observed == 0 && spun < MAX_SPIN_NANOS) {
            CpuLoad.runOnThreads(1, () -> BlockingMethod.readFor(SPIN_NANOS));
            spun += SPIN_NANOS;
            observed = TaskClock.status().accuracy().observedNanos() - before.observedNanos();
        }
        assertThat(observed).isBetween(1L, spun * 2);
    }

    /** Returns the counter's rate in Hz, according to the clock that NTP does not adjust. */
    private static double measureHertz() throws InterruptedException {
        long[] start = readCounterAndClock();
        Thread.sleep(MEASURED_MILLIS);
        long[] end = readCounterAndClock();
        return (end[0] - start[0]) * 1e9 / (end[1] - start[1]);
    }

    /** Reads the counter and the clock together: returns the fastest of several tries. */
    private static long[] readCounterAndClock() {
        long[] best = new long[2];
        long fastest = Long.MAX_VALUE;
        for (int i = 0; i < TRIES; i++) {
            long before = SystemCalls.timeStampCounter();
            long nanos = SystemCalls.clockNanos(MONOTONIC_RAW);
            long took = SystemCalls.timeStampCounter() - before;
            if (took >= fastest) continue;
            fastest = took;
            best = new long[] {before + took / 2, nanos};
        }
        return best;
    }
}
