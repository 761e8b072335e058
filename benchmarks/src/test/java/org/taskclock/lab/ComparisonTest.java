// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.taskclock.lab.Comparison.FASTER;
import static org.taskclock.lab.Comparison.NO_DIFFERENCE;
import static org.taskclock.lab.Comparison.SLOWER;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ComparisonTest {
    @TempDir
    Path folder;

    private static Comparison.Row row(double step, List<List<Double>> a, List<List<Double>> b) {
        return Comparison.row("", a, b, step);
    }

    @Test
    void shouldJudgeEachRowThatBothHave() throws IOException {
        List<Comparison.Row> rows =
                Comparison.compare(Measurements.of(Measured.file("a.json")), Measurements.of(Measured.file("b.json")));
        assertThat(rows).extracting(Comparison.Row::verdict).containsExactly(FASTER, SLOWER, NO_DIFFERENCE);
        assertThat(rows.get(0).name()).isEqualTo("JDK 17.0.1, taskclock-cpu, rseq, 1 thread, average");
        assertThat(rows.get(0).low()).isLessThan(0.8);
        assertThat(rows.get(0).high()).isBetween(0.8, 0.95);
    }

    /** By hand: variances 1 of 3 values each, 4 degrees of freedom, t 8.610, half 8.610 * sqrt(2/3). */
    @Test
    void shouldTakeWelchsInterval() {
        Comparison.Row row = row(0, List.of(List.of(99.0, 100.0, 101.0)), List.of(List.of(109.0, 110.0, 111.0)));
        assertThat(row.high() - row.low()).isCloseTo(2 * 8.610 * Math.sqrt(2.0 / 3) / 100, within(1e-4));
        assertThat(row.verdict()).isEqualTo(SLOWER);
    }

    @Test
    void shouldNotTellWhatOneForkCannot() {
        List<List<Double>> a = List.of(List.of(100.0, 100.1, 99.9, 100.0));
        List<List<Double>> b = List.of(List.of(104.0, 104.1, 103.9, 104.0));
        assertThat(row(0, a, b).verdict()).isEqualTo(NO_DIFFERENCE);
    }

    @Test
    void shouldTellSmallDifferencesOfManyForks() {
        List<List<Double>> a = List.of(List.of(100.0), List.of(100.1), List.of(99.9), List.of(100.0));
        List<List<Double>> b = List.of(List.of(104.0), List.of(104.1), List.of(103.9), List.of(104.0));
        assertThat(row(0, a, b).verdict()).isEqualTo(SLOWER);
    }

    @Test
    void shouldRespectThatForksDifferMoreThanTheirIterations() {
        List<List<Double>> a = List.of(List.of(90.0, 90.0), List.of(100.0, 100.0), List.of(110.0, 110.0));
        List<List<Double>> b = List.of(List.of(120.0, 120.0), List.of(130.0, 130.0), List.of(110.0, 110.0));
        assertThat(row(0, a, b).verdict()).isEqualTo(NO_DIFFERENCE);
    }

    @Test
    void shouldNotTellLessThanAStepOfTheClock() {
        List<List<Double>> a = List.of(List.of(30.0, 30.0, 30.0));
        List<List<Double>> b = List.of(List.of(40.0, 40.0, 40.0));
        assertThat(row(10, a, b).verdict()).isEqualTo(NO_DIFFERENCE);
        assertThat(row(5, a, b).verdict()).isEqualTo(SLOWER);
    }

    @Test
    void shouldTellNothingFromSingleValues() {
        Comparison.Row row = row(0, List.of(List.of(10.0)), List.of(List.of(100.0)));
        assertThat(row.verdict()).isEqualTo(NO_DIFFERENCE);
        assertThat(Text.table(Comparison.table(List.of(row)))).contains("unknown", NO_DIFFERENCE);
    }

    @Test
    void shouldEndWith1WhereSomethingIsSlower() throws IOException {
        Path a = folder.resolve("a.json");
        Path b = folder.resolve("b.json");
        Measured.result(Measured.file("a.json")).write(a);
        Measured.result(Measured.file("b.json")).write(b);
        assertThat(Lab.execute("bench", "--compare", a.toString(), b.toString()))
                .isEqualTo(1);
        assertThat(Lab.execute("bench", "--compare", a.toString(), a.toString()))
                .isZero();
    }
}
