// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.taskclock.report.Result;

/** Tests the arithmetic of {@code yield} with made-up runs. */
class YieldTablesTest {
    private static final long MILLI = 1_000_000;
    private static final double ROUNDING = 1e-9;

    private static ThreadSampler.Usage used(String name, int tid, long userMillis, long systemMillis, long blocked) {
        return new ThreadSampler.Usage(
                name, tid, (userMillis + systemMillis) * MILLI, userMillis * MILLI, systemMillis * MILLI, blocked, 0);
    }

    /** Returns a run of 2 s on JDK 25. */
    private static YieldRun run(
            YieldRun.Mode mode,
            boolean virtual,
            int threads,
            boolean yielding,
            int carriers,
            long evenNumbers,
            double cores) {
        List<EvenNumberProgram.Second> seconds = List.of(
                new EvenNumberProgram.Second(1, 1, 3, List.of(used("a", 1, 300, 100, 10), used("b", 2, 50, 0, 5))),
                new EvenNumberProgram.Second(2, 1, 7, List.of(used("a", 1, 200, 200, 30))));
        List<AgentAccounting.CarrierUsage> each =
                List.of(new AgentAccounting.CarrierUsage(1, 900 * MILLI, 600 * MILLI, 300 * MILLI));
        EvenNumberProgram.End end = new EvenNumberProgram.End(
                2, evenNumbers, new AgentAccounting.VirtualUsage(600 * MILLI, 500 * MILLI, 100 * MILLI), each);
        ExperimentJvm.Times times = new ExperimentJvm.Times(2.5, 2.5 * cores * 0.75, 2.5 * cores * 0.25);
        return new YieldRun("25", mode, virtual, threads, yielding, carriers, seconds, end, times);
    }

    private static YieldRun plain(boolean virtual, int threads, boolean yielding, long evenNumbers) {
        return run(YieldRun.Mode.PLAIN, virtual, threads, yielding, 0, evenNumbers, 1);
    }

    private static YieldRuns eightRuns() {
        YieldRuns runs = new YieldRuns();
        for (boolean virtual : new boolean[] {false, true}) {
            runs.add(plain(virtual, 1, false, 2_000_000_000));
            runs.add(plain(virtual, 4, false, 6_000_000_000L));
        }
        runs.add(plain(false, 1, true, 20_000_000));
        runs.add(plain(false, 4, true, 5_000_000));
        runs.add(plain(true, 1, true, 2_000_000));
        runs.add(plain(true, 4, true, 10_000_000));
        return runs;
    }

    private static Result.Finding finding(YieldRuns runs, String start) {
        return YieldFindings.of(runs).stream()
                .filter(finding -> finding.claim().startsWith(start))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldComputeTheSlowdownByYielding() {
        YieldRuns runs = eightRuns();
        assertThat(runs.slowdown(runs.plain("25", false, false, true))).isEqualTo(100);
        assertThat(runs.slowdown(runs.plain("25", false, true, true))).isEqualTo(1200);
        assertThat(runs.slowdown(runs.plain("25", true, false, true))).isEqualTo(1000);
        assertThat(runs.slowdown(runs.plain("25", true, true, true))).isEqualTo(600);
        assertThat(runs.plain("21", false, false, true)).isNull();
    }

    @Test
    void shouldReturnThePublishedSlowdowns() {
        assertThat(Newsletter.slowdown(false, false, true)).isCloseTo(127.1, within(0.1));
        assertThat(Newsletter.slowdown(true, false, true)).isCloseTo(923.6, within(0.1));
        assertThat(Newsletter.slowdown(false, true, true)).isEqualTo(1200);
        assertThat(Newsletter.slowdown(false, true, false)).isNaN();
        assertThat(Newsletter.of(true, true, false)).isNull();
    }

    @Test
    void shouldShowTheFiguresOfTheNewsletter() {
        Result.Table summary = YieldTables.summary(eightRuns());
        assertThat(summary.rows()).hasSize(8).allSatisfy(row -> assertThat(row).hasSameSizeAs(summary.columns()));
        List<Object> virtual = summary.rows().get(6);
        assertThat(virtual.subList(0, 11))
                .isEqualTo(List.of(
                        "one virtual thread, yielding",
                        "25",
                        2_000_000L,
                        1.0,
                        1000.0,
                        2.5,
                        1.875,
                        0.625,
                        1.0,
                        25.0,
                        0.8));
        assertThat(virtual.subList(11, 17))
                .isEqualTo(List.of(7_959_055L, 7_959_055 / 10.3 / 1e6, 1200.0, 10.677, 22.577, 56.556));
        assertThat((double) virtual.get(18)).isCloseTo(71.5, within(0.1));
        // The newsletter has no figures for virtual threads that do not yield.
        assertThat(summary.rows().get(2).subList(11, 20)).containsOnlyNulls();
        assertThat(summary.rows().get(3).subList(11, 20)).containsOnlyNulls();
    }

    @Test
    void shouldSumUpEachSecond() {
        YieldRuns runs = new YieldRuns();
        runs.add(plain(false, 2, true, 1000));
        Result.Table table = YieldTables.seconds(runs);
        assertThat(table.rows().get(0))
                .isEqualTo(Arrays.asList(
                        "2 platform threads, yielding", "25", "nothing", null, 1.0, "a", 400.0, 300.0, 100.0, null));
        assertThat(table.rows().get(2).subList(5, 10)).isEqualTo(List.of("Total", 450.0, 350.0, 100.0, 3L));
        assertThat(table.rows().get(4).subList(5, 10)).isEqualTo(List.of("Total", 400.0, 200.0, 200.0, 7L));
    }

    @Test
    void shouldDrawUserAndSystemTimeOfEachThread() {
        Result.Timeline timeline = YieldTables.timeline(plain(false, 2, true, 1000));
        assertThat(timeline.series().stream().map(Result.Series::name))
                .containsExactly("a user", "a system", "b user", "b system");
        assertThat(timeline.series().get(1).points()).containsExactly(new double[] {1, 100}, new double[] {2, 200});
        // Thread b used no CPU time in the second interval.
        assertThat(timeline.series().get(2).points()).containsExactly(new double[] {1, 50}, new double[] {2, 0});
    }

    @Test
    void shouldComputeTheShareOfScheduling() {
        YieldRun run = run(YieldRun.Mode.ACCOUNTED, true, 1, true, 0, 1000, 2);
        assertThat(run.schedulerPercent()).isCloseTo(100.0 / 3, within(ROUNDING));
        // The last counts of the threads are 30 and 5, for 1,000 yields.
        assertThat(run.blockedPerThousand()).isEqualTo(35);
    }

    @Test
    void shouldCheckTheClaimsOfTheNewsletter() {
        YieldRuns runs = eightRuns();
        assertThat(finding(runs, "Yielding makes one platform thread").verdict())
                .isEqualTo("confirmed");
        assertThat(finding(runs, "Yielding makes one platform thread").text())
                .isEqualTo("JDK 25: 100 x; published: 127 x.");
        assertThat(finding(runs, "One yielding virtual thread uses far more").verdict())
                .isEqualTo("contradicted");
        assertThat(finding(new YieldRuns(), "Yielding makes one platform thread")
                        .verdict())
                .isEqualTo("not measured");
    }

    @Test
    void shouldAnswerTheOpenQuestionWithASingleCarrier() {
        YieldRuns runs = eightRuns();
        runs.add(run(YieldRun.Mode.ACCOUNTED, true, 1, true, 0, 1_000_000, 2));
        runs.add(run(YieldRun.Mode.ACCOUNTED, true, 1, true, 1, 3_000_000, 1));
        Result.Finding finding = finding(runs, "Open question");
        assertThat(finding.verdict()).isEqualTo("confirmed");
        assertThat(finding.text())
                .contains("33 % of the CPU time of its 1 carriers is scheduling", "yields 3.0 times as often");

        YieldRuns others = eightRuns();
        others.add(run(YieldRun.Mode.ACCOUNTED, true, 1, true, 0, 1_000_000, 1));
        others.add(run(YieldRun.Mode.ACCOUNTED, true, 1, true, 1, 1_000_000, 1));
        assertThat(finding(others, "Open question").verdict()).isEqualTo("contradicted");
    }

    @Test
    void shouldOmitInterruptedRunsFromSummaries() {
        YieldRun whole = plain(false, 1, true, 1000);
        YieldRuns runs = new YieldRuns();
        runs.add(new YieldRun("25", YieldRun.Mode.PLAIN, false, 1, true, 0, whole.seconds(), null, null));
        assertThat(YieldTables.summary(runs).rows()).isEmpty();
        assertThat(YieldTables.silenced(runs).rows()).isEmpty();
        assertThat(YieldTables.seconds(runs).rows()).hasSize(5);
    }

    @Test
    void shouldConfirmOnlyClaimsThatHoldOnAllJdks() {
        ExperimentClaim claim = new ExperimentClaim("text", "source", "2 x", "%.1f x", ExperimentClaim.about(2));
        assertThat(claim.check(Map.of("17", 1.0)).verdict()).isEqualTo("confirmed");
        assertThat(claim.check(Map.of("17", 4.1)).verdict()).isEqualTo("contradicted");
        assertThat(claim.check(Map.of("17", 1.0, "25", 0.9)).verdict()).isEqualTo("contradicted");
        assertThat(claim.check(Map.of("17", Double.NaN)).verdict()).isEqualTo("not measured");
    }

    @Test
    void shouldOmitValuesThatAreNotFinite() {
        Result.Table table = new TableBuilder<Double>()
                .column("x", "", value -> "a")
                .column("y", "", value -> value)
                .build("t", "", List.of(Double.NaN));
        ResultBuilder builder = new ResultBuilder();
        builder.tables.add(table);
        Result result = builder.result("n", "", true, List.of(), Map.of(), List.of(), List.of());
        assertThat(result.tables().get(0).rows().get(0)).containsExactly("a", null);
        assertThat(ResultText.of(result, null)).contains("a  -");
    }
}
