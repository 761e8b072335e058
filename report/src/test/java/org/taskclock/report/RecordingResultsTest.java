// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

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
        List<Result> results = RecordingResults.of(intervals, Map.of(), List.of(), ZoneOffset.UTC);
        assertThat(results).hasSize(1);
        return results.get(0);
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
        assertThat(pool.get(9)).isEqualTo(80.0); // voluntary per second
        List<Object> virtual = row(result.tables().get(0), "query-#");
        assertThat(virtual.get(2)).isEqualTo(1000);
        assertThat(virtual.get(8)).isNull(); // unknown is not 0
        assertThat(row(result.tables().get(1), "http-nio-8080-exec-2").get(2)).isEqualTo(102);
        List<Object> unlisted = row(result.tables().get(0), "(unlisted threads)");
        assertThat(unlisted.subList(8, 11)).containsOnlyNulls();
        assertThat((Double) unlisted.get(3)).isCloseTo(count * 0.030, within(0.001));
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
        Result result = RecordingResults.of(Samples.intervals(120), Map.of(), List.of(), ZoneId.of("Asia/Kolkata"))
                .get(0);
        assertThat(result.findings().get(0).source())
                .isEqualTo("17:30:30 to 17:30:40, 17:32:29 to 17:32:59 (Asia/Kolkata), in 40 of 120 intervals");
        // In this zone, it is midnight in the middle of the recording.
        Result night = RecordingResults.of(Samples.intervals(120), Map.of(), List.of(), ZoneId.of("+11:58"))
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
        assertThat(result.heatmaps()).hasSize(1);
        Result.Heatmap heatmap = result.heatmaps().get(0);
        assertThat(heatmap.step()).isEqualTo(1);
        assertThat(heatmap.rows()).hasSize(rows);
        Result.HeatmapRow first = heatmap.rows().get(0);
        assertThat(first.name()).isEqualTo("http-nio-8080-exec-0");
        assertThat(first.tid()).isEqualTo(1000);
        assertThat(first.cpu()).hasSize(60);
        assertThat(first.cpu().get(5)).isZero();
        assertThat(first.cpu().get(15)).isEqualTo(90);
        assertThat(first.user().get(15)).isEqualTo(67.5);
        Result.HeatmapRow last = heatmap.rows().get(rows - 1);
        assertThat(last.tid()).isZero();
        int shown = Math.min(rows - 1, threads - 1);
        int others = threads - shown;
        assertThat(last.name())
                .isEqualTo(String.format(Locale.ROOT, "%,d other thread%s", others, others == 1 ? "" : "s"));
        assertThat(heatmap.text())
                .startsWith(String.format(
                        Locale.ROOT, "The %d threads with the most CPU time, of %,d, most first.", shown, threads))
                .contains("The last row is the sum of all others");
        for (int i = 0; i < 60; i++) {
            double sum = 0;
            for (Result.HeatmapRow row : heatmap.rows()) sum += row.cpu().get(i);
            assertThat(sum)
                    .as("column " + i)
                    .isCloseTo(100.0 * intervals.get(i).totals().processNanos() / 1e9, within(0.01 * (rows + 1)));
        }
    }

    @Test
    void shouldWidenTheColumnsOfLongRecordings() {
        Result.Heatmap heatmap =
                singleResult(Samples.manyThreads(5000, 3)).heatmaps().get(0);
        assertThat(heatmap.step()).isEqualTo(16);
        Result.HeatmapRow first = heatmap.rows().get(0);
        assertThat(first.cpu()).hasSize(5000 / 16 + 1);
        double mean = 0;
        for (double percent : first.cpu()) mean += percent / first.cpu().size();
        // It works for two thirds of the time.
        assertThat(mean).isCloseTo(60, within(0.5));
        // They are not wider than necessary.
        heatmap = singleResult(Samples.manyThreads(700, 3)).heatmaps().get(0);
        assertThat(heatmap.step()).isEqualTo(2);
        assertThat(heatmap.rows().get(0).cpu()).hasSize(350);
    }

    @Test
    void shouldShowAColumnThatWasHardlyRecordedAsAGap() {
        List<Interval> intervals = new ArrayList<>(Samples.intervals(120));
        for (int i = 60; i < 120; i++) {
            Interval interval = intervals.get(i);
            intervals.set(
                    i,
                    new Interval(
                            interval.end().minusMillis(20), // the clocks do not agree exactly
                            interval.intervalNanos(),
                            interval.pid(),
                            interval.name(),
                            interval.source(),
                            interval.threads(),
                            interval.totals(),
                            interval.findings(),
                            interval.notes()));
        }
        List<Double> cpu =
                singleResult(intervals).heatmaps().get(0).rows().get(0).cpu();
        assertThat(cpu.get(117)).isNegative();
        assertThat(cpu.get(118)).isNegative(); // 20 ms
        assertThat(cpu.get(119)).isNotNegative();
    }

    @Test
    void shouldShowGapsInTheHeatmap() {
        Result.Heatmap heatmap = singleResult(Samples.intervals(120)).heatmaps().get(0);
        Result.HeatmapRow row = heatmap.rows().get(0);
        assertThat(row.cpu()).hasSize(179);
        // Nothing was recorded for 59 seconds after the 60th interval.
        for (int i = 0; i < 179; i++)
            assertThat(row.cpu().get(i) < 0).as("column " + i).isEqualTo(i >= 60 && i < 119);
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
        assertThat(RecordingResults.of(intervals, Map.of(), List.of(), ZoneOffset.UTC))
                .extracting(Result::name)
                .containsExactly("com.example.Server, pid 4711", "other.jar, pid 4712");
    }

    @Test
    void shouldReturnNothingForNoIntervals() {
        assertThat(RecordingResults.of(List.of(), Map.of(), List.of(), ZoneOffset.UTC))
                .isEmpty();
    }
}
