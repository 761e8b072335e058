// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.taskclock.benchmarks.CadenceResult;
import org.taskclock.benchmarks.SwitchBenchmark;
import org.taskclock.report.Result;

/** Tests the arithmetic of {@code overhead} with made-up figures. */
class OverheadTablesTest {
    private static List<SwitchBenchmark.SwitchCost> costs(
            String backend, double nothing, double systemCall, double... cpuNanos) {
        List<SwitchBenchmark.SwitchCost> costs = new ArrayList<>();
        for (int round = 0; round < cpuNanos.length; round++) {
            costs.add(new SwitchBenchmark.SwitchCost(backend, OverheadTables.NOTHING, round, nothing, null));
            costs.add(new SwitchBenchmark.SwitchCost(backend, OverheadTables.SYSTEM_CALL, round, systemCall, null));
            costs.add(new SwitchBenchmark.SwitchCost(backend, OverheadTables.CPU_NANOS, round, cpuNanos[round], null));
        }
        return costs;
    }

    @Test
    void shouldCompareRoundByRound() {
        List<SwitchBenchmark.SwitchCost> costs =
                new ArrayList<>(costs("syscall", 10_000, 10_500, 10_000, 20_000, 30_000));
        // 50 % more in two rounds and 100 % more in one. Expect the median of the ratios, not the ratio of the medians.
        costs.addAll(costs("rseq", 10_000, 10_500, 15_000, 40_000, 45_000));
        costs.add(new SwitchBenchmark.SwitchCost("rseq-own", null, 0, 0, "no"));
        assertThat(new OverheadTables.SwitchCosts(costs).markerPercent("rseq")).isCloseTo(50, within(1e-9));

        Result.Table table = OverheadTables.switches(Map.of("25", costs));
        assertThat(table.rows()).hasSize(6).allSatisfy(row -> assertThat(row).hasSameSizeAs(table.columns()));
        assertThat(table.text()).isEqualTo("rseq-own was not measured: no");
        assertThat(table.rows().get(1).subList(0, 3)).isEqualTo(List.of("syscall", "25", "clock_gettime"));
        assertThat((double) table.rows().get(1).get(7)).isEqualTo(500);
        assertThat((double) table.rows().get(1).get(8)).isCloseTo(5, within(1e-9));
    }

    @Test
    void shouldOmitIncompleteRounds() {
        List<SwitchBenchmark.SwitchCost> costs = costs("syscall", 10_000, 10_500, 10_000, 20_000);
        costs.remove(costs.size() - 1);
        assertThat(new OverheadTables.SwitchCosts(costs).completeRounds()).isEqualTo(1);
        assertThat(new OverheadTables.SwitchCosts(costs.subList(0, 2)).completeRounds())
                .isZero();
        assertThat(OverheadTables.switches(Map.of("25", costs.subList(0, 2))).rows())
                .isEmpty();
    }

    @Test
    void shouldCompareServersWithTheFirstAndThePrevious() {
        Map<String, List<ServerProgram.Figures>> variants = new LinkedHashMap<>();
        variants.put("bare", List.of(new ServerProgram.Figures(null, 2, 1000, 10_000_000, 0, 0)));
        variants.put("empty", List.of(new ServerProgram.Figures(null, 2, 1000, 20_000_000, 0, 0)));
        variants.put("ours", List.of(new ServerProgram.Figures(null, 2, 1000, 30_000_000, 0, 0)));
        Result.Table table = OverheadTables.servers(Map.of("25", variants));
        assertThat(table.rows().get(0).subList(2, 4)).isEqualTo(List.of(500.0, 10.0));
        assertThat(table.rows().get(2).subList(6, 8)).isEqualTo(List.of(200.0, 50.0));
    }

    private static CadenceResult reading(String row, int fork, double cpuNanos) {
        String nanos = "{'nanoTime': 24, 'clock_gettime': 500, 'stock': 550, 'cpuNanos': " + cpuNanos + "}";
        return CadenceResult.parse(String.join(
                "",
                "{'row': '" + row + "', 'fork': " + fork + ", 'environment': {'backend': 'rseq'}",
                ", 'cost': {'mean': " + nanos + ", 'middle': " + nanos + ", 'askedPercent': 0.5, 'switches': 1}}"));
    }

    @Test
    void shouldShowReadingsByPrecedingWork() {
        Map<String, List<CadenceResult>> readings =
                Map.of("25", List.of(reading("tight", 1, 40), reading("tight", 2, 60), reading("switch-1000", 1, 12)));
        Result.Table byWork = OverheadTables.byWork(readings);
        assertThat(byWork.rows()).singleElement().satisfies(row -> assertThat(row)
                .hasSameSizeAs(byWork.columns())
                .startsWith("tight loop", "25", 24.0, 500.0, 550.0, 50.0)
                .endsWith(0.5));
        Result.Table afterSwitches = OverheadTables.afterSwitches(readings);
        assertThat(afterSwitches.rows()).singleElement().isEqualTo(List.of(1_000, "25", 24.0, 500.0, 550.0, 12.0));
        assertThat(OverheadTables.bars("25", readings.get("25")).items())
                .extracting(Result.Bar::value)
                .containsExactly(500.0, 50.0);
        // The ratio uses the means of the middle half in a tight loop.
        assertThat(OverheadTables.findings(Map.of(), readings))
                .filteredOn(finding -> finding.claim().contains("tight loop"))
                .singleElement()
                .satisfies(finding -> assertThat(finding.text()).contains("0.10 of a system call"));
    }
}
