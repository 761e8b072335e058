// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.ParameterException;

class CadenceBenchmarkTest {
    @TempDir
    private Path folder;

    // ---- arguments

    private static CadenceBenchmark parse(String... arguments) {
        CadenceBenchmark benchmark = new CadenceBenchmark();
        benchmark.commandLine().parseArgs(arguments);
        benchmark.checkOptions();
        return benchmark;
    }

    @Test
    void shouldMeasureAllRowsByDefault() {
        CadenceBenchmark benchmark = parse();
        assertThat(benchmark.rows()).isEqualTo(CadenceRow.ALL);
        assertThat(benchmark.json).isFalse();
        assertThat(benchmark.markdown).isFalse();
        assertThat(benchmark.forks).isPositive();
        assertThat(benchmark.rounds).isPositive();
        assertThat(benchmark.from).isNull();
    }

    @Test
    void shouldTakeRowsAndGroupsInTheirOrder() {
        CadenceBenchmark benchmark =
                parse("--only", "engine-busy,threads", "--forks", "3", "--only", "10us", "--rounds", "2", "--json");
        assertThat(benchmark.rows())
                .extracting(CadenceRow::name)
                .containsExactly("10us", "threads-1", "threads-16", "threads-64", "engine-busy");
        assertThat(benchmark.forks).isEqualTo(3);
        assertThat(benchmark.rounds).isEqualTo(2);
        assertThat(benchmark.json).isTrue();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    --fork 3                 | Unknown options: '--fork', '3'
                    tight                    | Unmatched argument at index 0: 'tight'
                    --forks                  | Missing required parameter for option '--forks' (N)
                    --forks 0                | Invalid value for option '--forks': not a number from 1 to 999999
                    --rounds -1              | Invalid value for option '--rounds': not a number
                    --rounds 1e3             | Invalid value for option '--rounds': not a number
                    --only 5us               | --only 5us: unknown row: rows are tight, 1us,
                    --json --markdown        | --markdown and --json cannot be combined
                    --from x --only tight    | --only: cannot be combined with --from
                    --json --from x          | --json: cannot be combined with --from
                    """)
    void shouldReportWrongArguments(String arguments, String message) {
        assertThatExceptionOfType(ParameterException.class)
                .isThrownBy(() -> parse(arguments.split(" ", -1)))
                .withMessageStartingWith(message);
    }

    @Test
    void shouldExitWithTwoForWrongUsage() throws Exception {
        Outcome outcome = run("--only", "5us");
        assertThat(outcome.exitCode).isEqualTo(2);
        assertThat(outcome.err)
                .startsWith("taskclock: cadence: --only 5us: unknown row")
                .hasLineCount(1);
        assertThat(outcome.out).isEmpty();
    }

    @Test
    void shouldReportALineThatIsNotAResult() throws Exception {
        Path file = folder.resolve("cadence.json");
        Files.writeString(file, reading("tight", 1, "rseq", 10, 500, 8).json() + "\n{\"row\":\"tight\"}\n");
        Outcome outcome = run("--from", file.toString());
        assertThat(outcome.exitCode).isEqualTo(2);
        assertThat(outcome.err).contains(file + ": line 2: not a result of CadenceBenchmark: {\"row\":\"tight\"}");
        assertThat(run("--from", folder.resolve("none").toString()).exitCode).isEqualTo(1);
    }

    // ---- goals

    private static CadenceResult.Environment on(String backend) {
        return new CadenceResult.Environment("25.0.3", backend, "FFM", 2);
    }

    private static CadenceResult reading(
            String row, int fork, String backend, double cpuNanos, double stock, double counter) {
        Map<String, Double> nanos = Map.of(
                "counter",
                counter,
                "empty call",
                2.0,
                "nanoTime",
                24.0,
                "clock_gettime",
                450.0,
                "stock",
                stock,
                "cpuNanos",
                cpuNanos);
        CadenceResult.ReadingCost cost = new CadenceResult.ReadingCost(nanos, nanos, 0.125, 1);
        return CadenceResult.of(CadenceRow.named(row).get(0), fork, on(backend), cost);
    }

    private static CadenceGoal.Verdict verdict(CadenceResult... forks) {
        return CadenceGoal.check(RowSummary.of(List.of(forks)).get(0));
    }

    @ParameterizedTest
    @CsvSource({
        "tight, 12, 12.1, counter + 4 ns",
        "10us, 50, 50.1, 0.10 of stock",
        "100us, 100, 100.1, 0.20 of stock",
        "1ms, 350, 350.1, 0.70 of stock",
        "switch-1, 500, 500.1, 1.00 of stock"
    })
    void shouldCompareMeansOfCpuNanosWithGoals(String row, double good, double bad, String goal) {
        assertThat(verdict(reading(row, 1, "rseq", good, 500, 8))).isEqualTo(new CadenceGoal.Verdict(goal, "yes"));
        assertThat(verdict(reading(row, 1, "rseq", bad, 500, 8))).isEqualTo(new CadenceGoal.Verdict(goal, "**no**"));
    }

    @Test
    void shouldNotApplyGoalsToOtherBackends() {
        assertThat(verdict(reading("10us", 1, "syscall", 500, 500, 8)).met()).isEqualTo("not applicable");
        assertThat(verdict(reading("1us", 1, "rseq", 500, 500, 8))).isEqualTo(CadenceGoal.Verdict.NONE);
    }

    @Test
    void shouldCompareTheMedianOfForksWithTheGoal() {
        CadenceResult good = reading("10us", 1, "rseq", 40, 500, 8);
        CadenceResult bad = reading("10us", 2, "rseq", 400, 500, 8);
        assertThat(verdict(good, bad, good).met()).isEqualTo("yes");
        assertThat(verdict(bad, good, bad).met()).isEqualTo("**no**");
        RowSummary two = RowSummary.of(List.of(bad, good)).get(0);
        assertThat(two.mean("cpuNanos")).isEqualTo(220);
        assertThat(two.range("%.2f", RowSummary::ratio)).isEqualTo("0.44 (0.08 to 0.80)");
    }

    @Test
    void shouldAllowMoreTimeForAFirstReadingWithFfm() {
        assertThat(CadenceGoal.checkFirst("JNI", 5e6)).isEqualTo(new CadenceGoal.Verdict("5 ms", "yes"));
        assertThat(CadenceGoal.checkFirst("JNI", 5.1e6).met()).isEqualTo("**no**");
        assertThat(CadenceGoal.checkFirst("FFM", 15e6)).isEqualTo(new CadenceGoal.Verdict("15 ms", "yes"));
        assertThat(CadenceGoal.checkFirst("FFM", 15.1e6).met()).isEqualTo("**no**");
    }

    // ---- results

    private static List<CadenceResult> oneOfEachKind() {
        ReadingErrors errors = new ReadingErrors();
        errors.record(300, 500);
        errors.record(-100, 600);
        return List.of(
                reading("tight", 1, "rseq", 10, 500, 8),
                reading("switch-2", 1, "rseq", 250, 500, 8),
                CadenceResult.of(
                        CadenceRow.named("threads-16").get(0), 1, on("rseq"), Map.of("stock", 400.0, "cpuNanos", 11.5)),
                CadenceResult.of(
                        CadenceRow.named("first").get(0), 1, on("rseq"), List.of(9_000_000L, 3_000_000L, 4_000_000L)),
                CadenceResult.of(
                        CadenceRow.named("engine-busy").get(0),
                        1,
                        on("rseq"),
                        new CadenceResult.EngineCost(
                                500,
                                Map.of(
                                        "nothing", List.of(10_000_000L),
                                        "stock", List.of(12_500_000L),
                                        "cpuNanos", List.of(10_100_000L)),
                                errors.summary("engine"))));
    }

    @Test
    void shouldReadItsOwnJson() {
        assertThat(oneOfEachKind()).allSatisfy(result -> assertThat(CadenceResult.parse(result.json()))
                .isEqualTo(result)
                .matches(read -> !read.json().contains("\n")));
    }

    @Test
    void shouldThrowIfALineIsNotAResult() {
        for (String line : List.of("", "null", "{", "[1]", "{}", "{\"row\":\"tight\"}")) {
            assertThatIllegalArgumentException().isThrownBy(() -> CadenceResult.parse(line));
        }
    }

    @Test
    void shouldShowEachKindOfResult() {
        String text = CadenceReport.text(oneOfEachKind(), true);
        assertThat(text)
                .startsWith("JDK 25.0.3, backend rseq by FFM, 2 processors.\n")
                .contains("| tight loop | 8.0 | 2.0 | 24.0 | 450.0 | 500.0 | 500.0 | 10.0 | 10.0 | 0.125 % | 1.00 |"
                        + " 0.020 (0.020 to 0.020) | counter + 4 ns | yes |")
                .contains("cpuNanos takes 2.0 (2.0 to 2.0) ns more than the counter alone")
                .contains("| ms | 4.0 | 3.0 | 9.0 | 15 ms | yes |")
                .contains("| 11.5 (11.5 to 11.5) |")
                // 2.5 ms for 1,000 readings, in a block of 12.5 ms
                .contains("| 2500.0 (2500.0 to 2500.0) | 20.00 (20.00 to 20.00) |")
                .contains("| 2 | 0 % | +100.0 | 300 | 300 | 100 |");
        assertThat(CadenceReport.text(oneOfEachKind(), false))
                .contains("tight loop")
                .doesNotContain("|");
    }

    @Test
    void shouldPlanTheSameCallsEachTime() {
        QueryPlan plan = new QueryPlan(2, 50, 1_000);
        int calls = 0;
        for (int split = 0; split < plan.splits(); split++) {
            for (int quantum = 0; quantum < plan.quanta(); quantum++) {
                int[] rows = plan.calls(split, quantum);
                assertThat(rows).isEqualTo(new QueryPlan(2, 50, 1_000).calls(split, quantum));
                // 1,000 rows take a microsecond.
                assertThat(Arrays.stream(rows).sum()).isBetween(990_000, 1_002_000);
                assertThat(Arrays.stream(rows).min().orElseThrow()).isGreaterThanOrEqualTo(2_000);
                assertThat(Arrays.stream(rows).max().orElseThrow()).isLessThanOrEqualTo(200_000);
                calls += rows.length;
            }
        }
        assertThat(plan.calls()).isEqualTo(calls);
        // The mean length is 43 us.
        assertThat(calls / 100.0).isCloseTo(1_000 / 43.0, within(5.0));
    }

    // ---- short runs

    private record Outcome(int exitCode, String out, String err) {}

    private Outcome run(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                CadenceBenchmark.class.getName()));
        command.addAll(List.of(arguments));
        Path err = folder.resolve("err");
        Process process =
                new ProcessBuilder(command).redirectError(err.toFile()).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Outcome(process.waitFor(), out, Files.readString(err));
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the native library needs it")
    @Tag("slow")
    void shouldMeasureEachKindOfRow() throws Exception {
        String rows = "tight,1ms,switch-1,switch-2,threads-16,first,engine";
        Outcome outcome = run("--json", "--forks", "1", "--rounds", "1", "--only", rows);
        assertThat(outcome.exitCode).as(outcome.err).isZero();
        List<CadenceResult> results =
                outcome.out.lines().map(CadenceResult::parse).toList();
        assertThat(results)
                .extracting(CadenceResult::row)
                .containsExactly(
                        "tight", "1ms", "switch-1", "switch-2", "threads-16", "first", "engine-alone", "engine-busy");
        for (CadenceResult result : results) {
            assertThat(result.environment().jdk()).isEqualTo(Runtime.version().toString());
            switch (CadenceRow.named(result.row()).get(0).group()) {
                case CADENCE, SWITCHES -> shouldHaveReadings(result.row(), result.cost());
                case THREADS ->
                    assertThat(result.cpuNanos())
                            .containsKeys("counter", "stock", "cpuNanos")
                            .allSatisfy((contender, nanos) -> assertThat(nanos).isPositive());
                case FIRST -> assertThat(result.firstNanos()).singleElement().matches(nanos -> nanos > 0);
                case ENGINE -> shouldHaveBlocks(result.engine());
            }
        }
        Path file = folder.resolve("cadence.json");
        Files.writeString(file, outcome.out);
        Outcome report = run("--from", file.toString(), "--markdown");
        assertThat(report.exitCode).as(report.err).isZero();
        assertThat(report.out)
                .contains("| tight loop | ", "| 1 ms | ", "| ms | ")
                .contains("| alone | cpuNanos | ", "| a busy neighbor on each processor | cpuNanos | ");
    }

    private static void shouldHaveReadings(String row, CadenceResult.ReadingCost cost) {
        assertThat(cost.mean())
                .containsOnlyKeys("counter", "empty call", "nanoTime", "clock_gettime", "stock", "cpuNanos");
        assertThat(cost.mean().get("clock_gettime")).isPositive();
        assertThat(cost.mean().get("stock")).isPositive();
        assertThat(cost.askedPercent()).isBetween(0.0, 100.0);
        if (row.equals("switch-1")) assertThat(cost.askedPercent()).isGreaterThan(50);
        if (row.startsWith("switch")) assertThat(cost.switches()).isGreaterThan(0.9);
    }

    private static void shouldHaveBlocks(CadenceResult.EngineCost engine) {
        assertThat(engine.cpuNanos()).containsOnlyKeys("nothing", "stock", "cpuNanos");
        assertThat(engine.cpuNanos().values()).allSatisfy(blocks -> {
            assertThat(blocks).hasSameSizeAs(engine.cpuNanos().get("nothing"));
            assertThat(blocks).allMatch(nanos -> nanos > 0);
        });
        // TaskClock is compared with the kernel before and after each call.
        assertThat(engine.errors().comparisons())
                .isEqualTo(
                        2L * engine.calls() * engine.cpuNanos().get("nothing").size());
    }
}
