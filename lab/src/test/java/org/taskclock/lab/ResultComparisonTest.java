// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.taskclock.lab.ResultComparison.FASTER;
import static org.taskclock.lab.ResultComparison.NO_DIFFERENCE;
import static org.taskclock.lab.ResultComparison.SLOWER;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ResultComparisonTest {
    @TempDir
    Path folder;

    private static ResultComparison.Row row(double step, List<List<Double>> a, List<List<Double>> b) {
        return ResultComparison.row("", a, b, step);
    }

    @Test
    void shouldCompareRowsThatBothResultsHave() throws IOException {
        List<ResultComparison.Row> rows = ResultComparison.compare(
                Measurements.of(TestMeasurements.file("a.json")), Measurements.of(TestMeasurements.file("b.json")));
        assertThat(rows).extracting(ResultComparison.Row::verdict).containsExactly(FASTER, SLOWER, NO_DIFFERENCE);
        assertThat(rows.get(0).name()).isEqualTo("JDK 17.0.1, taskclock-cpu, rseq, 1 thread, average");
        assertThat(rows.get(0).low()).isLessThan(0.8);
        assertThat(rows.get(0).high()).isBetween(0.8, 0.95);
    }

    /** By hand: 3 values with variance 1 on each side, 4 degrees of freedom, t = 8.610, error = 8.610 * sqrt(2/3). */
    @Test
    void shouldUseWelchsInterval() {
        ResultComparison.Row row = row(0, List.of(List.of(99.0, 100.0, 101.0)), List.of(List.of(109.0, 110.0, 111.0)));
        assertThat(row.high() - row.low()).isCloseTo(2 * 8.610 * Math.sqrt(2.0 / 3) / 100, within(1e-4));
        assertThat(row.verdict()).isEqualTo(SLOWER);
    }

    @Test
    void shouldIgnoreSmallDifferencesOfSingleForks() {
        List<List<Double>> a = List.of(List.of(100.0, 100.1, 99.9, 100.0));
        List<List<Double>> b = List.of(List.of(104.0, 104.1, 103.9, 104.0));
        assertThat(row(0, a, b).verdict()).isEqualTo(NO_DIFFERENCE);
    }

    @Test
    void shouldReportSmallDifferencesOfManyForks() {
        List<List<Double>> a = List.of(List.of(100.0), List.of(100.1), List.of(99.9), List.of(100.0));
        List<List<Double>> b = List.of(List.of(104.0), List.of(104.1), List.of(103.9), List.of(104.0));
        assertThat(row(0, a, b).verdict()).isEqualTo(SLOWER);
    }

    @Test
    void shouldAllowForVariationBetweenForks() {
        List<List<Double>> a = List.of(List.of(90.0, 90.0), List.of(100.0, 100.0), List.of(110.0, 110.0));
        List<List<Double>> b = List.of(List.of(120.0, 120.0), List.of(130.0, 130.0), List.of(110.0, 110.0));
        assertThat(row(0, a, b).verdict()).isEqualTo(NO_DIFFERENCE);
    }

    @Test
    void shouldIgnoreDifferencesBelowTheStepOfTheClock() {
        List<List<Double>> a = List.of(List.of(30.0, 30.0, 30.0));
        List<List<Double>> b = List.of(List.of(40.0, 40.0, 40.0));
        assertThat(row(10, a, b).verdict()).isEqualTo(NO_DIFFERENCE);
        assertThat(row(5, a, b).verdict()).isEqualTo(SLOWER);
    }

    @Test
    void shouldReportNoDifferenceOfSingleValues() {
        ResultComparison.Row row = row(0, List.of(List.of(10.0)), List.of(List.of(100.0)));
        assertThat(row.verdict()).isEqualTo(NO_DIFFERENCE);
        assertThat(ResultText.table(ResultComparison.table(List.of(row)))).contains("unknown", NO_DIFFERENCE);
    }

    @Test
    void shouldExitWith3IfSomethingIsSlower() throws IOException {
        Path a = folder.resolve("a.json");
        Path b = folder.resolve("b.json");
        TestMeasurements.result(TestMeasurements.file("a.json")).write(a);
        TestMeasurements.result(TestMeasurements.file("b.json")).write(b);
        assertThat(new CommandLine(new Bench()).execute("--compare", a.toString(), b.toString()))
                .isEqualTo(3);
        assertThat(new CommandLine(new Bench()).execute("--compare", a.toString(), a.toString()))
                .isZero();
    }
}
