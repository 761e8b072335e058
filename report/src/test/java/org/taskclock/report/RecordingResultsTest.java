// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.monitor.sampling.Interval;

class RecordingResultsTest {
    private static Result singleResult(List<Interval> intervals) {
        List<Result> results = RecordingResults.of(intervals, List.of(), Map.of(), List.of(), ZoneOffset.UTC);
        assertThat(results).hasSize(1);
        return results.get(0);
    }

    @Test
    void shouldDrawTheStacksOfEvidence() {
        Result result = RecordingResults.of(
                        Samples.intervals(120), List.of(Samples.evidence()), Map.of(), List.of(), ZoneOffset.UTC)
                .get(0);
        Result.FlameGraph graph = result.flameGraphs().get(0);
        assertThat(graph.title()).startsWith("yield-storm, began at ").contains("12:00:30");
        assertThat(graph.text()).isEqualTo(Samples.evidence().text());
        assertThat(graph.collapsed()).isEqualTo("Orders.run;java.lang.Thread.yield 4000\n");
    }

    /** Tests pages with one interval per point and with several. */
    @ParameterizedTest
    @ValueSource(ints = {1, 100, 5000})
    void shouldDrawPoolsThatAddUpToTheProcess(int count) {
        Result result = singleResult(Samples.intervals(count));
        List<Result.Series> pools = result.timelines().get(0).series();
        List<double[]> process =
                series(result.timelines().get(result.timelines().size() - 1), "process");
        assertThat(process).hasSizeBetween(1, 1200);
        for (int i = 0; i < process.size(); i++) {
            double sum = 0;
            for (Result.Series pool : pools) {
                assertThat(pool.points().get(i)[0]).isEqualTo(process.get(i)[0]);
                sum += pool.points().get(i)[1];
            }
            // Each of the 24 series is rounded to 0.01.
            assertThat(sum).isCloseTo(process.get(i)[1], within(0.2));
        }
    }

    private static List<double[]> series(Result.Timeline timeline, String name) {
        return timeline.series().stream()
                .filter(series -> series.name().equals(name))
                .findFirst()
                .orElseThrow()
                .points();
    }

    @ParameterizedTest
    @ValueSource(ints = {100, 5000})
    void shouldListPoolsAndThreads(int count) {
        List<Interval> intervals = Samples.intervals(count);
        Result result = singleResult(intervals);
        List<Object> pool = row(result.tables().get(0), "http-nio-#-exec-#");
        double cpuMillis = 0;
        for (int i = 0; i < count; i++) cpuMillis += 300 + i % 40 * 5 + 200;
        assertThat(pool.get(1)).isEqualTo("java");
        assertThat(pool.get(2)).isEqualTo(2); // threads
        assertThat((Double) pool.get(3)).isCloseTo(cpuMillis / 1e3, within(0.001));
        assertThat((Double) pool.get(4)).isCloseTo(count * 0.390, within(0.001)); // user
        assertThat(pool.get(7)).isEqualTo(69.5); // the peak of a single interval, even if a point has several
        assertThat(pool.get(10)).isEqualTo(80.0); // voluntary per second
        List<Object> virtual = row(result.tables().get(0), "query-#");
        assertThat(virtual.get(2)).isEqualTo(1000);
        assertThat(virtual.get(9)).isNull(); // unknown is not 0
        assertThat(row(result.tables().get(1), "http-nio-8080-exec-2").get(2)).isEqualTo(102);
        List<Object> unlisted = row(result.tables().get(0), "(unlisted threads)");
        assertThat(unlisted.subList(9, 12)).containsOnlyNulls();
        assertThat((Double) unlisted.get(3)).isCloseTo(count * 0.030, within(0.001));
    }

    @Test
    void shouldListAccountsBesidePools() {
        Result result = singleResult(Samples.withAccounts(100));
        Result plain = singleResult(Samples.intervals(100));
        assertThat(result.tables()).extracting(Result.Table::title).containsExactly("Pools", "Accounts", "Threads");
        assertThat(result.tables().get(0)).isEqualTo(plain.tables().get(0));
        assertThat(result.timelines().get(0).series())
                .extracting(Result.Series::name)
                .isEqualTo(plain.timelines().get(0).series().stream()
                        .map(Result.Series::name)
                        .toList());
        List<List<Object>> rows = result.tables().get(1).rows();
        assertThat(rows).hasSize(15);
        assertThat(rows.get(0)).containsExactly("tenant", "(unaccounted)", 70.0, 52.5, 17.5, 70.0, null);
        assertThat(rows.get(1)).containsExactly("endpoint", "/orders", 50.0, 37.5, 12.5, 50.0, null);
    }

    private static List<Object> row(Result.Table table, String name) {
        return table.rows().stream()
                .filter(row -> row.get(0).equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldListPeriodsOfFindings() {
        Result result = singleResult(Samples.intervals(120));
        assertThat(result.findings()).hasSize(1);
        Result.Finding finding = result.findings().get(0);
        assertThat(finding.verdict()).isEqualTo("yield-storm");
        // Intervals 30 to 39 and 90 to 119, with a gap of a minute between them.
        assertThat(finding.source())
                .isEqualTo("12:00:30 to 12:00:40, 12:02:29 to 12:02:59 (UTC), in 40 of 120 intervals");
        List<double[]> points = series(result.timelines().get(1), "yield-storm");
        assertThat(points).filteredOn(point -> point[1] == 100).hasSize(40);
        assertThat(points).filteredOn(point -> point[1] == 0).hasSize(80);
        assertThat(finding.text()).isEqualTo("88 % system\nin Thread.yield0");
    }

    @Test
    void shouldGiveTimesInTheRequestedZone() {
        Result result = RecordingResults.of(
                        Samples.intervals(120), List.of(), Map.of(), List.of(), ZoneId.of("Asia/Kolkata"))
                .get(0);
        assertThat(result.findings().get(0).source())
                .isEqualTo("17:30:30 to 17:30:40, 17:32:29 to 17:32:59 (Asia/Kolkata), in 40 of 120 intervals");
        // In this zone, it is midnight in the middle of the recording.
        Result night = RecordingResults.of(Samples.intervals(120), List.of(), Map.of(), List.of(), ZoneId.of("+11:58"))
                .get(0);
        assertThat(night.findings().get(0).source())
                .startsWith("2026-11-21 23:58:30 to 2026-11-21 23:58:40, 2026-11-22 00:00:29 to ")
                .contains("(+11:58)");
    }

    @ParameterizedTest
    @CsvSource({"5, 5", "41, 41", "42, 41", "200, 41", "2000, 41"})
    void shouldShowTheBusiestThreadsInTheHeatmap(int threads, int rows) {
        List<Interval> intervals = Samples.manyThreads(60, threads);
        Result result = singleResult(intervals);
        JsonObject series = result.recording().get("threads").getAsJsonObject();
        assertThat(series.get("step").getAsInt()).isEqualTo(1000);
        JsonArray drawn = series.getAsJsonArray("threads");
        assertThat(drawn).hasSize(rows);
        JsonObject first = drawn.get(0).getAsJsonObject();
        assertThat(first.get("name").getAsString()).isEqualTo("http-nio-8080-exec-0");
        assertThat(first.get("tid").getAsInt()).isEqualTo(1000);
        assertThat(first.getAsJsonArray("cpu")).hasSize(60);
        assertThat(first.getAsJsonArray("cpu").get(5).getAsDouble()).isZero();
        assertThat(first.getAsJsonArray("cpu").get(15).getAsDouble()).isEqualTo(90);
        assertThat(first.getAsJsonArray("system").get(15).getAsDouble()).isEqualTo(22.5);
        JsonObject last = drawn.get(rows - 1).getAsJsonObject();
        assertThat(last.get("tid").getAsInt()).isZero();
        int shown = Math.min(rows - 1, threads - 1);
        int others = threads - shown;
        assertThat(last.get("name").getAsString())
                .isEqualTo(String.format(Locale.ROOT, "%,d other thread%s", others, others == 1 ? "" : "s"));
        assertThat(result.timelines().get(0).text())
                .contains(String.format(
                        Locale.ROOT, "The %d threads with the most CPU time, of %,d, most first.", shown, threads))
                .contains("The last row is the sum of all others");
        for (int i = 0; i < 60; i++) {
            double sum = 0;
            for (JsonElement row : drawn)
                sum += row.getAsJsonObject().getAsJsonArray("cpu").get(i).getAsDouble();
            assertThat(sum)
                    .as("column " + i)
                    .isCloseTo(100.0 * intervals.get(i).totals().processNanos() / 1e9, within(0.01 * (rows + 1)));
        }
    }

    @ParameterizedTest
    @CsvSource({"5000, 5, 1000", "700, 1, 700"})
    void shouldWidenTheStepsOfLongRecordings(int seconds, int step, int steps) {
        Result result = singleResult(Samples.manyThreads(seconds, 3));
        JsonObject series = result.recording().get("threads").getAsJsonObject();
        assertThat(series.get("step").getAsInt()).isEqualTo(1000 * step);
        JsonArray cpu =
                series.getAsJsonArray("threads").get(0).getAsJsonObject().getAsJsonArray("cpu");
        assertThat(cpu).hasSize(steps);
        double mean = 0;
        for (JsonElement percent : cpu) mean += percent.getAsDouble() / steps;
        // It works for two thirds of the time.
        assertThat(mean).isCloseTo(60, within(1.0));
    }

    @Test
    void shouldHaveGapsWhereNothingWasRecorded() {
        Result result = singleResult(Samples.intervals(120));
        JsonArray row = result.recording().get("threads").getAsJsonObject().getAsJsonArray("threads");
        JsonArray cpu = row.get(0).getAsJsonObject().getAsJsonArray("cpu");
        assertThat(cpu).hasSize(179);
        // Nothing was recorded for 59 seconds after the 60th interval.
        for (int i = 0; i < 179; i++)
            assertThat(cpu.get(i).isJsonNull()).as("column " + i).isEqualTo(i >= 60 && i < 119);
    }

    @Test
    void shouldCreateOneResultPerProcess() {
        List<Interval> intervals = new ArrayList<>(Samples.intervals(3));
        for (Interval interval : Samples.intervals(2)) {
            intervals.add(new Interval(
                    interval.end(),
                    interval.intervalNanos(),
                    4712,
                    "other.jar",
                    interval.source(),
                    interval.threads(),
                    interval.totals(),
                    interval.findings(),
                    interval.notes()));
        }
        assertThat(RecordingResults.of(intervals, List.of(), Map.of(), List.of(), ZoneOffset.UTC))
                .extracting(Result::name)
                .containsExactly("com.example.Server, pid 4711", "other.jar, pid 4712");
    }

    @Test
    void shouldReturnNothingForNoIntervals() {
        assertThat(RecordingResults.of(List.of(), List.of(), Map.of(), List.of(), ZoneOffset.UTC))
                .isEmpty();
    }
}
