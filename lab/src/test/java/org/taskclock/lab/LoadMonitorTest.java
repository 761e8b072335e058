// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.report.Result;

class LoadMonitorTest {
    private static LoadMonitor.Reading reading(long seconds, String cpu, String own) {
        return LoadMonitor.Reading.parse(
                seconds * 1_000_000_000, "cpu  " + cpu, "4711 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 " + own + " 20 0 1");
    }

    @Test
    void shouldAttributeCpuTimeToOthersAndTheHypervisor() {
        // user nice system idle iowait irq softirq steal guest guest_nice; utime stime cutime cstime
        LoadMonitor.Reading start = reading(10, "1000 0 500 8000 100 0 0 50 900 0", "10 5 200 100");
        LoadMonitor.Reading end = reading(14, "1300 10 590 8310 110 0 0 80 1100 0", "20 5 350 140");
        Result.Load load = LoadMonitor.between("a step", start, end);
        assertThat(load.step()).isEqualTo("a step");
        assertThat(load.seconds()).isEqualTo(4);
        // Of 750 ticks, 400 were busy, 200 of which were our own, and 30 were stolen.
        assertThat(load.otherPercent()).isCloseTo(100 * 200.0 / 750, within(0.01));
        assertThat(load.stolenPercent()).isCloseTo(100 * 30.0 / 750, within(0.01));
    }

    @Test
    void shouldNotBeNegative() {
        LoadMonitor.Reading start = reading(0, "0 0 0 0 0 0 0 0 0 0", "0 0 0 0");
        LoadMonitor.Reading end = reading(1, "50 0 0 50 0 0 0 0 0 0", "51 0 0 0");
        assertThat(LoadMonitor.between("", start, end).otherPercent()).isZero();
    }

    @Test
    void shouldMeasureEachStepThatEnded() {
        LoadMonitor monitor = new LoadMonitor();
        monitor.begin("first");
        spin();
        monitor.begin("second");
        spin();
        monitor.end();
        monitor.begin("interrupted");
        List<Result.Load> steps = monitor.steps();
        assertThat(steps).extracting(Result.Load::step).containsExactly("first", "second");
        assertThat(steps).allSatisfy(load -> {
            assertThat(load.seconds()).isPositive();
            // The machine may be busy, but our own CPU time is not that of others.
            assertThat(load.otherPercent()).isBetween(0.0, 100.0);
        });
    }

    /** Spins for at least two steps of the clock of /proc/stat, whose resolution is 10 ms. */
    private static void spin() {
        long end = System.nanoTime() + 50_000_000;
        while (System.nanoTime() < end) Thread.onSpinWait();
    }
}
