// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.internal.JdkVersions;
import org.taskclock.report.Result;

/**
 * Runs each experiment as briefly as possible with the packaged jar on the JDK of the tests. The figures are
 * meaningless.
 */
@Tag("slow17")
class ExperimentTest {
    private static final String JAR = System.getProperty("cli.jar");
    private static final int FEATURE = Runtime.version().feature();
    private static final int TIMEOUT_SECONDS = 240;
    /** Cells are not rounded, but sums are computed in a different order. */
    private static final double ROUNDING = 1e-6;

    private record ProcessResult(int exitCode, String out, String err) {}

    @TempDir
    private Path folder;

    private Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-jar",
                JAR,
                "experiment"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectError(folder.resolve("err").toFile());
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
        return builder.start();
    }

    private ProcessResult await(Process process) throws IOException, InterruptedException {
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        return new ProcessResult(process.exitValue(), out, Files.readString(folder.resolve("err")));
    }

    /** Runs an experiment on this JDK and returns its result, which must be complete and well-formed. */
    private Result run(String... arguments) throws IOException, InterruptedException {
        Path file = folder.resolve("result.json");
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("-o", file.toString(), "--jdk", System.getProperty("java.home")));
        ProcessResult child = await(start(all.toArray(String[]::new)));
        assertThat(child.exitCode).as(child.err).isZero();
        return assertWellFormed(Result.read(file), arguments[0]);
    }

    private static Result assertWellFormed(Result result, String name) {
        assertThat(result.complete()).isTrue();
        assertThat(result.kind()).isEqualTo("experiment");
        assertThat(result.name()).isEqualTo(name);
        assertThat(result.command()).startsWith("taskclock", "experiment", name);
        assertThat(result.command()).noneMatch(argument -> argument.contains("/"));
        assertThat(result.jdks()).hasSize(1);
        assertThat(result.machine()).containsKeys("processors", "kernel", "backend");
        assertThat(result.method()).isNotEmpty();
        assertThat(result.load()).isNotEmpty().allSatisfy(load -> {
            assertThat(load.step()).isNotBlank();
            assertThat(load.seconds()).isPositive();
            assertThat(load.otherPercent()).isBetween(0.0, 100.0);
            assertThat(load.stolenPercent()).isBetween(0.0, 100.0);
        });
        for (Result.Table table : result.tables()) {
            assertThat(table.rows()).allSatisfy(row -> assertThat(row).hasSameSizeAs(table.columns()));
        }
        assertThat(result.findings()).allSatisfy(finding -> assertThat(finding.verdict())
                .isIn("confirmed", "contradicted", "inconclusive", "not measured"));
        // There are no claims about servers in separate JVMs.
        boolean claims =
                result.tables().stream().anyMatch(table -> !table.title().startsWith("A server with"));
        assertThat(result.findings().isEmpty()).isNotEqualTo(claims);
        return result;
    }

    private static Result.Table table(Result result, String start) {
        return result.tables().stream()
                .filter(table -> table.title().startsWith(start))
                .findFirst()
                .orElseThrow();
    }

    private static int column(Result.Table table, String name) {
        for (int i = 0; i < table.columns().size(); i++) {
            if (table.columns().get(i).name().equals(name)) return i;
        }
        throw new AssertionError("no column " + name + " in " + table.columns());
    }

    private static double number(Result.Table table, List<Object> row, String name) {
        return ((Number) row.get(column(table, name))).doubleValue();
    }

    private static String text(Result.Table table, List<Object> row, String name) {
        return String.valueOf(row.get(column(table, name)));
    }

    @Test
    @Tag("slow")
    void shouldMeasureYield() throws Exception {
        Result result = run("yield", "--for", "100ms");
        boolean virtual = FEATURE >= JdkVersions.VIRTUAL_THREADS;
        int processorCounts = Runtime.getRuntime().availableProcessors() > 1 ? 2 : 1;

        Result.Table summary = table(result, "Threads that count");
        assertThat(summary.rows()).hasSize(processorCounts * (virtual ? 4 : 2));
        for (List<Object> row : summary.rows()) {
            assertThat(number(summary, row, "even numbers")).isPositive();
            assertThat(number(summary, row, "real")).isGreaterThan(0.1);
            assertThat(number(summary, row, "user") + number(summary, row, "sys"))
                    .isPositive();
        }

        Result.Table seconds = table(result, "Each second");
        double cpu = 0;
        for (List<Object> row : seconds.rows()) {
            assertThat(number(seconds, row, "usr") + number(seconds, row, "sys"))
                    .isCloseTo(number(seconds, row, "cpu"), within(ROUNDING));
            if (text(seconds, row, "thread").equals("Total")) {
                assertThat(number(seconds, row, "cpu"))
                        .isCloseTo(cpu, within(ROUNDING))
                        .isPositive();
                assertThat(number(seconds, row, "progress")).isNotNegative();
                cpu = 0;
            } else {
                cpu += number(seconds, row, "cpu");
            }
        }

        Result.Table shares = table(result, "CPU time of virtual threads");
        assertThat(shares.rows()).hasSize(virtual ? 2 + processorCounts : 0);
        for (List<Object> row : shares.rows()) {
            double all = number(shares, row, "threads' own cpu") + number(shares, row, "scheduling");
            // A loose bound, because the share of scheduling varies.
            assertThat(number(shares, row, "threads' own cpu")).isBetween(0.1 * all, all);
        }

        Result.Table silenced = table(result, "Silenced yields");
        assertThat(silenced.rows())
                .hasSize(processorCounts * ((virtual ? 2 : 1) + (FEATURE < JdkVersions.NO_DONT_YIELD_A_LOT ? 1 : 0)));
        assertThat(result.timelines()).isNotEmpty().allSatisfy(timeline -> assertThat(timeline.series())
                .isNotEmpty());
    }

    @Test
    void shouldMeasureYieldALotAndPrintNothingButJson() throws Exception {
        ProcessResult child =
                await(start("yield-a-lot", "--for", "100ms", "--json", "--jdk", System.getProperty("java.home")));
        assertThat(child.err.lines()).isNotEmpty().allMatch(line -> line.startsWith("taskclock: ["));
        Path printed = folder.resolve("printed.json");
        Files.writeString(printed, child.out);
        Result result = assertWellFormed(Result.read(printed), "yield-a-lot");
        Result.Table table = table(result, "A thread that only yields");
        assertThat(table.rows()).hasSize((FEATURE < JdkVersions.NO_DONT_YIELD_A_LOT ? 3 : 2) + 2);
        for (List<Object> row : table.rows()) {
            assertThat(number(table, row, "user") + number(table, row, "system"))
                    .isCloseTo(number(table, row, "cpu"), within(0.01));
            assertThat(number(table, row, "counter")).isPositive();
        }
    }

    @Test
    void shouldMeasureCarriers() throws Exception {
        assumeTrue(FEATURE >= JdkVersions.VIRTUAL_THREADS, "JDK " + FEATURE + " has no virtual threads");
        Result.Table table = table(run("carriers", "--for", "0.2"), "Carriers of one");
        double visits = 0;
        for (List<Object> row : table.rows()) {
            assertThat(number(table, row, "user") + number(table, row, "system"))
                    .isCloseTo(number(table, row, "cpu"), within(ROUNDING));
            assertThat(number(table, row, "thread's own") + number(table, row, "scheduling"))
                    .isCloseTo(number(table, row, "cpu"), within(ROUNDING));
            if (text(table, row, "carrier").equals("Total")) {
                assertThat(visits).isPositive().isEqualTo(number(table, row, "visits"));
                visits = 0;
            } else {
                visits += number(table, row, "visits");
            }
        }
    }

    @Test
    void shouldReportThatTheJdkIsTooOld() throws Exception {
        assumeTrue(FEATURE < JdkVersions.VIRTUAL_THREADS, "JDK " + FEATURE + " has virtual threads");
        ProcessResult child = await(start("carriers", "--jdk", System.getProperty("java.home")));
        assertThat(child.exitCode).isEqualTo(1);
        assertThat(child.out).isEmpty();
        assertThat(child.err)
                .startsWith("taskclock: experiment carriers: JDK " + FEATURE)
                .contains("no virtual threads: specify JDK 21 or later with --jdk")
                .hasLineCount(1);
    }

    @Test
    void shouldMeasureAccuracyAndUpdateItsDocument() throws Exception {
        Path document = folder.resolve("document.md");
        Files.writeString(
                document, "before\n" + AccuracyExperiment.BEGIN + "old\n" + AccuracyExperiment.END + "after\n");
        Result result = run("accuracy", "--for", "100ms", "--markdown", document.toString());
        Result.Table user = table(result, "Error of user time");
        Result.Table system = table(result, "Error of system time");
        assertThat(user.rows()).hasSize(9);
        for (int i = 0; i < user.rows().size(); i++) {
            assertThat(number(user, user.rows().get(i), "true user")).isBetween(0.0, 100.0);
            assertThat(number(user, user.rows().get(i), "TaskClock"))
                    .isCloseTo(-number(system, system.rows().get(i), "TaskClock"), within(ROUNDING));
        }
        assertThat(Files.readString(document))
                .startsWith("before\n" + AccuracyExperiment.BEGIN + "From [result.json](result.json): 0.1 s each.")
                .contains("| user only | ", "stock, JDK " + result.jdks().get(0).version())
                .doesNotContain("old")
                .endsWith(AccuracyExperiment.END + "after\n");
    }

    /** Measures different parts on each JDK of the tests, because all of them take too long. */
    @Test
    @Tag("slow")
    void shouldMeasureOverhead() throws Exception {
        String part = FEATURE < JdkVersions.VIRTUAL_THREADS ? "switches,reading" : "server,switched";
        Result result = run("overhead", "--only", part, "--rounds", "1", "--for", "100ms", "--windows", "4");
        if (FEATURE >= JdkVersions.VIRTUAL_THREADS) {
            assertThat(result.tables()).hasSize(2);
            Result.Table switched = table(result, "A server whose accounting");
            assertThat(switched.rows())
                    .hasSize(2)
                    .allSatisfy(
                            row -> assertThat(number(switched, row, "pairs")).isEqualTo(2))
                    .allSatisfy(
                            row -> assertThat(number(switched, row, "without")).isPositive());
            assertThat(result.findings()).anyMatch(f -> f.claim().contains("a server's throughput"));
            Result.Table servers = table(result, "A server with");
            assertThat(servers.rows()).hasSize(4).allSatisfy(row -> assertThat(number(servers, row, "cpu per request"))
                    .isPositive());
        } else {
            assertThat(result.tables()).hasSize(3);
            Result.Table switches = table(result, "A program with 100,000");
            Result.Table reading = table(result, "One reading, by the work");
            // Backend syscall is usable wherever the native library is.
            assertThat(switches.rows()).hasSizeGreaterThanOrEqualTo(3);
            for (List<Object> row : switches.rows())
                assertThat(number(switches, row, "per turn")).isPositive();
            assertThat(reading.rows()).hasSizeGreaterThanOrEqualTo(5);
        }
    }

    @Test
    void shouldKeepPartialResultsWhenInterrupted() throws Exception {
        Path file = folder.resolve("result.json");
        Process process =
                start("yield", "--for", "1m", "-o", file.toString(), "--jdk", System.getProperty("java.home"));
        BufferedReader lines = process.inputReader();
        String line = lines.readLine();
        while (!line.startsWith("Total")) line = lines.readLine();
        process.destroy();
        assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        Result result = Result.read(file);
        assertThat(result.complete()).isFalse();
        assertThat(table(result, "Each second").rows()).hasSizeGreaterThanOrEqualTo(2);
        assertThat(table(result, "Threads that count").rows()).isEmpty();
    }

    @Test
    void shouldReportErrorsInOneLine() throws Exception {
        ProcessResult noJdk = await(start("yield", "--jdk", folder.toString()));
        assertThat(noJdk.exitCode).isEqualTo(1);
        assertThat(noJdk.err)
                .isEqualTo(String.format(
                        Locale.ROOT,
                        "taskclock: experiment yield: --jdk %s: not a JDK: specify a directory that contains "
                                + "bin/java%n",
                        folder));

        ProcessResult wrong = await(start("yield", "--for", "long"));
        assertThat(wrong.exitCode).isEqualTo(2);
        assertThat(wrong.err)
                .endsWith(": see taskclock experiment yield --help\n")
                .hasLineCount(1);
    }
}
