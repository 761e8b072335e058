// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.taskclock.benchmarks.JmhSummary;
import org.taskclock.report.Result;

class PublishedComparisonTest {
    private final Map<String, JsonElement> jmh = TestMeasurements.file("a.json");
    private final Measurements measured = Measurements.of(jmh);
    private final PublishedComparison comparison = new PublishedComparison(
            PublishedData.read(),
            measured,
            Map.of(PublishedComparison.stepKey("17.0.1", Contender.TASKCLOCK_CPU, "rseq"), 7L));

    PublishedComparisonTest() throws IOException {}

    private Result.Table table(String title) {
        return comparison.tables().stream()
                .filter(table -> table.title().equals(title))
                .findFirst()
                .orElseThrow();
    }

    private static List<Object> row(Result.Table table, String name) {
        return table.rows().stream()
                .filter(row -> row.get(0).equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldReadTheJsonOfJmh() {
        Measurement user = measured.sampled("17.0.1", Contender.STOCK_USER, 16);
        assertThat(user.mean()).isEqualTo(22_372);
        assertThat(user.samples()).isEqualTo(8);
        assertThat(user.means()).isEqualTo(List.of(List.of(20_250.0, 21_500.0)));
        assertThat(user.medians()).isEqualTo(List.of(List.of(20_000.0, 22_000.0)));
        assertThat(user.maxima()).isEqualTo(List.of(List.of(21_000.0, 22_000.0)));
        assertThat(user.row("p0.999")).isEqualTo(113_000);
        assertThat(measured.average("17.0.1", Contender.TASKCLOCK_USER).error()).isNaN();
        assertThat(measured.all()).hasSize(5);
    }

    @Test
    void shouldReadTheSameFromASummary() {
        List<Measurement> before = measured.all();
        for (JsonElement run : jmh.get("17.0.1").getAsJsonArray()) JmhSummary.reduce((JsonObject) run);
        assertThat(jmh.toString()).doesNotContain("rawDataHistogram");
        assertThat(Measurements.of(jmh).all()).isEqualTo(before);
    }

    @Test
    void shouldShowMeasuredAndPublishedWithTheirRatio() {
        Result.Table table = table("post-us: 16 threads, before the fix");
        assertThat(row(table, "mean").subList(0, 3)).isEqualTo(List.of("mean", 11.186, 22.372));
        assertThat((Double) row(table, "mean").get(3)).isCloseTo(2.0, within(1e-9));
        assertThat((Double) row(table, "p1.00").get(3)).isCloseTo(1.0, within(1e-9));
        assertThat(row(table, "p0.50").get(4))
                .as("TaskClock, which was not measured in this mode")
                .isNull();
        assertThat(table.text()).contains("QuestDB", "Ryzen", "ThreadMXBean user, stock");
    }

    @Test
    void shouldLeaveUnmeasuredCellsEmpty() {
        Result.Table table = table("pr-ms: after the patch");
        assertThat(row(table, "mean")).startsWith("mean", "≈ 10⁻³").doesNotContain(0.0);
        assertThat(row(table, "p1.00").get(1)).isEqualTo(0.054);
        assertThat(row(table, "p1.00").get(2)).isNull();
        assertThat(ResultText.isMeasured(table)).isFalse();
        assertThat(ResultText.isMeasured(table("post-us: 16 threads, before the fix")))
                .isTrue();
    }

    @Test
    void shouldShowThePublishedImprovement() {
        Result.Table table = table("post-us: improvement");
        assertThat((Double) row(table, "mean").get(1)).isCloseTo(11.186 / 0.279, within(1e-9));
        assertThat(row(table, "mean").get(2)).isNull();
    }

    @Test
    void shouldShowSmallestStepAndAverage() {
        List<Object> row = row(table("One reading on one thread, JDK 17.0.1"), "TaskClock.cpuNanos");
        assertThat(row.subList(1, 7)).containsExactly("rseq", 7L, null, null, null, 10.0);
    }

    @Test
    void shouldDrawPublishedAndMeasuredCurves() {
        Result.Percentiles curves = comparison.percentiles().get(0);
        assertThat(curves.series()).extracting(Result.Series::published).containsExactly(true, true, false);
        assertThat(curves.series()).allSatisfy(series -> assertThat(series.points())
                .hasSize(8)
                .extracting(point -> point[0])
                .startsWith(0.0, 50.0)
                .endsWith(100.0));
        assertThat(comparison.percentiles()).hasSize(1);
    }
}
