// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class ClockSoakTest {
    private static final long LONG_AGO = System.nanoTime() - 3_600_000_000_000L;

    private static final int MAX_SOAKS = 20;

    private final List<String> wrong = new ArrayList<>();
    private final ReadingValidator validator = new ReadingValidator("spinners", wrong::add);

    /** Validates a reading between two readings of the kernel's clock that are 500 ns apart. */
    private void read(long cpu, long error) {
        long now = System.nanoTime();
        long before = cpu - error - (error < 0 ? 0 : 500);
        validator.checkCpu(now, before, cpu, before + 500, now + 600, true);
    }

    @Test
    void shouldComputeTheDistanceFromTheKernelsReadings() {
        assertThat(ReadingValidator.error(100, 99, 200)).isEqualTo(-1);
        assertThat(ReadingValidator.error(100, 100, 200)).isZero();
        assertThat(ReadingValidator.error(100, 200, 200)).isZero();
        assertThat(ReadingValidator.error(100, 203, 200)).isEqualTo(3);
    }

    @Test
    void shouldRecordErrorsWithinTheContract() {
        read(5_000_000, 0);
        read(5_001_000, 400);
        read(5_002_000, -30);
        validator.checkParts(5_002_000, 5_000_000, 2_000);
        ReadingErrors.Summary summary = validator.errors().summary("spinners");
        assertThat(wrong).isEmpty();
        assertThat(summary.comparisons()).isEqualTo(3);
        assertThat(summary.exact()).isEqualTo(1);
        assertThat(summary.p50()).isEqualTo(30);
        assertThat(summary.meanAhead()).isEqualTo((400 - 30) / 3.0);
        assertThat(summary.worstAhead()).isEqualTo(400);
        assertThat(summary.worstBehind()).isEqualTo(30);
        assertThat(summary.medianWidth()).isEqualTo(500);
    }

    @Test
    void shouldDetectReadingsWithoutASystemCallByTheirTime() {
        validator.errors().recordTime(60, 500);
        validator.errors().recordTime(490, 500);
        assertThat(validator.errors().summary("spinners").quickPercent()).isEqualTo(50);
    }

    @Test
    void shouldReportDecreasingCpu() {
        read(5_000_000, 0);
        read(4_999_999, 0);
        assertThat(wrong).singleElement().asString().isEqualTo("spinners: cpu went back by 1 ns, from 5000000");
    }

    @Test
    void shouldReportPartsThatDecreaseOrDoNotAddUp() {
        validator.checkParts(3_000, 2_000, 1_000);
        validator.checkParts(4_000, 1_999, 2_001);
        validator.checkUser(1_998);
        validator.checkSystem(2_000);
        validator.checkParts(5_000, 2_500, 2_499);
        assertThat(wrong)
                .containsExactly(
                        "spinners: user went back by 1 ns, from 2000",
                        "spinners: user went back by 1 ns, from 1999",
                        "spinners: system went back by 1 ns, from 2001",
                        "spinners: user 2500 and system 2499 are not cpu 5000");
    }

    @Test
    void shouldReportErrorsAboveTheLifeOfABase() {
        read(5_000_000, ReadingValidator.MAX_ERROR_NANOS);
        assertThat(wrong).isEmpty();
        read(7_000_000, ReadingValidator.MAX_ERROR_NANOS + 1);
        read(9_000_000, -ReadingValidator.MAX_ERROR_NANOS - 1);
        assertThat(wrong).filteredOn(text -> text.contains("off the kernel's")).hasSize(2);
    }

    @Test
    void shouldReportCpuThatGrowsFasterThanTheWallClock() {
        validator.checkCpu(LONG_AGO, 1_000, 1_200, 1_500, LONG_AGO + 600, true);
        validator.checkCpu(LONG_AGO + 1_000, 101_000, 101_200, 101_500, LONG_AGO + 1_600, true);
        assertThat(wrong).isEmpty();
        validator.checkCpu(LONG_AGO + 2_000, 301_000, 301_200, 301_500, LONG_AGO + 2_600, true);
        assertThat(wrong).singleElement().asString().contains("cpu grew by 198400 ns more than wall time");
    }

    @Test
    void shouldStartOverOnAnotherThread() {
        read(5_000_000, 0);
        validator.checkParts(5_000_000, 4_000_000, 1_000_000);
        validator.changeThread();
        read(70_000, 0);
        validator.checkParts(70_000, 0, 70_000);
        assertThat(wrong).isEmpty();
    }

    @Test
    void shouldFailAndReportMissingDisturbances() {
        read(5_000_000, 2_000);
        ClockSoak.Result result = new ClockSoak.Result(
                "here",
                1,
                List.of(validator.errors().summary("spinners")),
                Map.of("migrations", 0L),
                0,
                7,
                List.of("spinners: cpu went back"));
        assertThat(result.isGood()).isFalse();
        assertThat(ClockSoakReport.text(result, true))
                .startsWith("here: 1 s.")
                .contains("| spinners | 1 | 0 % | 1 | 2,000 |")
                .contains("MISSED by spinners (2,000 ns)")
                .contains("WRONG 7 times")
                .contains("WRONG: spinners: cpu went back")
                .contains("NOT DISTURBED: no migrations");
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the native library needs it")
    void shouldFindNoViolationWhileDisturbed() throws Exception {
        Set<String> missing = null;
        // On a busy machine, not every disturbance takes place within a second.
        for (int i = 0; i < MAX_SOAKS && (missing == null || !missing.isEmpty()); i++) {
            ClockSoak.Result result = ClockSoak.run(1);
            assertThat(result.wrong()).isEmpty();
            assertThat(result.errors()).hasSize(Disturbance.values().length + 1);
            if (missing == null) missing = new HashSet<>(result.missing());
            missing.retainAll(result.missing());
        }
        assertThat(missing).isEmpty();
    }
}
