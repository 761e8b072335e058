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
    private static final long DEFAULT_BUDGET_NANOS = 100;

    private static final int MEASURED_MILLIS = 200;
    /** The first intervals must agree to one part in about so many, so the rate is that accurate from the start. */
    private static final int KNOWN_TO = 2_000;

    private static final int MONOTONIC_RAW = 4;
    private static final int TRIES = 20;

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
        assertThat((double) calibration.counterHertz()).isCloseTo(hertz, within(hertz / KNOWN_TO));
        assertThat(calibration.overNanos()).isPositive();
        assertThat(calibration.resets()).isNotNegative();
    }

    @Test
    void shouldTellHowFarTheCounterIsTrusted() {
        ClockStatus.Accuracy accuracy = TaskClock.status().accuracy();
        if (!Expected.rung().startsWith("rseq")) {
            assertThat(accuracy).isNull();
            return;
        }
        assertThat(accuracy.budgetNanos()).isEqualTo(DEFAULT_BUDGET_NANOS);
        assertThat(accuracy.lifeNanos()).isBetween(0L, Observer.LONGEST_LIFE_NANOS);
        assertThat(accuracy.observedNanos()).isNotNegative();
    }

    /** A thread that spins on the clock uses up bases, and each of them shows how much time was taken. */
    @Test
    void shouldObserveWhatIsTaken() throws InterruptedException {
        if (!Expected.rung().startsWith("rseq")) return;
        long spun = 200_000_000;
        ClockStatus.Accuracy before = TaskClock.status().accuracy();
        Work.onThreads(1, () -> Blocking.readFor(spun));
        ClockStatus.Accuracy after = TaskClock.status().accuracy();
        long observed = after.observedNanos() - before.observedNanos();
        // Only bases that did not end in a switch count; on a busy machine those are few.
        assertThat(observed).isBetween(1L, spun * 2);
    }

    /** The counter's rate in Hz, by the clock that is not adjusted by NTP. */
    private static double measure() throws InterruptedException {
        long[] start = moment();
        Thread.sleep(MEASURED_MILLIS);
        long[] end = moment();
        return (end[0] - start[0]) * 1e9 / (end[1] - start[1]);
    }

    /** Counter and clock at one moment: the least disturbed of several tries. */
    private static long[] moment() {
        long[] best = new long[2];
        long least = Long.MAX_VALUE;
        for (int i = 0; i < TRIES; i++) {
            long before = Os.counter();
            long nanos = Os.clockNanos(MONOTONIC_RAW);
            long took = Os.counter() - before;
            if (took >= least) continue;
            least = took;
            best = new long[] {before + took / 2, nanos};
        }
        return best;
    }
}
