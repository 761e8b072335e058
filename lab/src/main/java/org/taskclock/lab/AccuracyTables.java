// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToDoubleBiFunction;
import java.util.function.ToDoubleFunction;
import org.taskclock.benchmarks.AccuracyBenchmark;
import org.taskclock.benchmarks.AccuracyResult;
import org.taskclock.benchmarks.SplitReader;
import org.taskclock.benchmarks.TextTable;
import org.taskclock.benchmarks.Workload;
import org.taskclock.report.Result;

/** The tables of {@code accuracy}. The keys of maps are JDK versions. */
final class AccuracyTables {
    /** Larger errors are shown in bold, because such a reading is meaningless. */
    private static final double BOLD_PERCENT = 50;
    /** The sampling error to expect if the workload is not in step with the ticks. */
    private static final double SAMPLING_PERCENT = 10;

    private AccuracyTables() {}

    private record Row(String jdk, AccuracyResult result) {}

    private static List<Row> rows(Map<String, List<AccuracyResult>> byJdk) {
        List<Row> rows = new ArrayList<>();
        byJdk.forEach((jdk, results) -> results.forEach(result -> rows.add(new Row(jdk, result))));
        return rows;
    }

    private static TableBuilder<Row> table() {
        return new TableBuilder<Row>()
                .column("workload", "", row -> row.result.workload.toString())
                .column("JDK", "", Row::jdk);
    }

    static Result.Table userErrors(Map<String, List<AccuracyResult>> byJdk) {
        return errors("Error of user time, in percent of the CPU time used", byJdk, AccuracyResult::userError);
    }

    static Result.Table systemErrors(Map<String, List<AccuracyResult>> byJdk) {
        return errors("Error of system time, in percent of the CPU time used", byJdk, AccuracyResult::systemError);
    }

    private static Result.Table errors(
            String title,
            Map<String, List<AccuracyResult>> byJdk,
            ToDoubleBiFunction<AccuracyResult, SplitReader> error) {
        TableBuilder<Row> table = table().column("cpu", "ms", row -> row.result.cpuNanos / 1e6)
                .column("true user", "%", row -> row.result.percent(row.result.userNanos))
                .column("unattributed", "%", row -> row.result.percent(row.result.unattributedNanos()));
        for (SplitReader reader : SplitReader.values()) {
            table.column(
                    reader.toString(),
                    "%",
                    row -> row.result.isRead(reader) ? error.applyAsDouble(row.result, reader) : Double.NaN);
        }
        return table.build(
                title,
                "True user: from readings of the precise clock before and after each burst. Unattributed: time "
                        + "outside of bursts, which counts as system time.",
                rows(byJdk));
    }

    static Result.Table lowestSystemTimes(Map<String, List<AccuracyResult>> byJdk) {
        TableBuilder<Row> table = table();
        for (SplitReader reader : AccuracyBenchmark.SAMPLED)
            table.column(reader.toString(), "ms", row -> row.result.leastSystemNanos.get(reader) / 1e6);
        return table.build(
                "Lowest cpu - user during the workload",
                "A negative value is a contradiction between two readings.",
                rows(byJdk).stream()
                        .filter(row -> !row.result.leastSystemNanos.isEmpty())
                        .toList());
    }

    static Result.Bars bars(String jdk, List<AccuracyResult> results) {
        List<Result.Bar> bars = new ArrayList<>();
        for (AccuracyResult result : results) {
            for (SplitReader reader : List.of(SplitReader.TASKCLOCK, SplitReader.STOCK)) {
                if (!result.isRead(reader)) continue;
                bars.add(new Result.Bar(result.workload + ", " + reader, result.userError(reader), null, null, false));
            }
        }
        return new Result.Bars("Error of user time, JDK " + jdk, "In percent of the CPU time used.", "%", bars);
    }

    static List<Result.Finding> findings(Map<String, List<AccuracyResult>> byJdk, long tickNanos) {
        return List.of(
                new ExperimentClaim(
                                "ThreadMXBean's CPU time minus its user time is the system time",
                                Newsletter.SOURCE,
                                "",
                                "wrong by up to %.0f %% of the CPU time",
                                value -> value <= SAMPLING_PERCENT)
                        .check(largest(
                                byJdk,
                                result -> result.isRead(SplitReader.STOCK),
                                result -> Math.abs(result.systemError(SplitReader.STOCK)))),
                new ExperimentClaim(
                                "ThreadMXBean's CPU time minus its user time is never negative",
                                Newsletter.SOURCE,
                                "",
                                "lowest value %.2f ms",
                                value -> value >= 0)
                        .check(lowestMillis(byJdk, SplitReader.STOCK)),
                new ExperimentClaim(
                                "TaskClock's user and system time are never negative and add up to its CPU time",
                                "TaskClock's contract",
                                "",
                                "lowest value %.2f ms",
                                value -> value >= 0)
                        .check(lowestMillis(byJdk, SplitReader.TASKCLOCK)),
                // One tick at the start and one at the end.
                new ExperimentClaim(
                                "TaskClock's split matches that of getrusage within one tick, at each reading",
                                "TaskClock's contract",
                                "",
                                "%.2f ticks between two readings",
                                value -> value <= 2)
                        .check(largest(
                                byJdk,
                                result -> result.isRead(SplitReader.RUSAGE),
                                result ->
                                        Math.abs(user(result, SplitReader.TASKCLOCK) - user(result, SplitReader.RUSAGE))
                                                / tickNanos)));
    }

    private static double user(AccuracyResult result, SplitReader reader) {
        return result.readings.get(reader).userNanos();
    }

    private static Map<String, Double> lowestMillis(Map<String, List<AccuracyResult>> byJdk, SplitReader reader) {
        Map<String, Double> lowest = largest(
                byJdk,
                result -> result.leastSystemNanos.containsKey(reader),
                result -> -result.leastSystemNanos.get(reader) / 1e6);
        lowest.replaceAll((jdk, negated) -> 0 - negated); // not -negated: no -0.0
        return lowest;
    }

    /** Returns the largest figure of each JDK, or NaN if it has none. */
    private static Map<String, Double> largest(
            Map<String, List<AccuracyResult>> byJdk,
            Predicate<AccuracyResult> included,
            ToDoubleFunction<AccuracyResult> figure) {
        Map<String, Double> largest = new LinkedHashMap<>();
        byJdk.forEach((jdk, results) -> largest.put(
                jdk, results.stream().filter(included).mapToDouble(figure).max().orElse(Double.NaN)));
        return largest;
    }

    // ---- docs/accuracy.md

    /** Returns one row per workload. Columns that do not depend on the JDK show the last JDK's run. */
    static String markdown(Map<String, List<AccuracyResult>> byJdk) {
        List<String> jdks = new ArrayList<>(byJdk.keySet());
        String last = jdks.get(jdks.size() - 1);
        List<String> headings = new ArrayList<>(List.of("workload", "true user", "TaskClock", "getrusage", "`/proc`"));
        for (String jdk : jdks) headings.add("stock, JDK " + jdk);
        TextTable errors = new TextTable(headings.toArray(String[]::new));
        headings = new ArrayList<>(List.of("lowest `cpu - user`, ms", "TaskClock"));
        for (String jdk : jdks) headings.add("stock, JDK " + jdk);
        TextTable lowestTable = new TextTable(headings.toArray(String[]::new));
        for (Workload workload : Workload.values()) {
            AccuracyResult result = of(byJdk.get(last), workload);
            if (result == null) continue;
            List<String> row = new ArrayList<>(List.of(workload.toString()));
            row.add(String.format(Locale.ROOT, "%.1f %%", result.percent(result.userNanos)));
            for (SplitReader reader : List.of(SplitReader.TASKCLOCK, SplitReader.RUSAGE, SplitReader.PROC))
                row.add(error(result, reader));
            for (String jdk : jdks) row.add(error(of(byJdk.get(jdk), workload), SplitReader.STOCK));
            errors.add(row);
            if (result.leastSystemNanos.isEmpty()) continue;
            List<String> lowest = new ArrayList<>(List.of(workload.toString(), lowest(result, SplitReader.TASKCLOCK)));
            for (String jdk : jdks) lowest.add(lowest(of(byJdk.get(jdk), workload), SplitReader.STOCK));
            lowestTable.add(lowest);
        }
        return "TaskClock, `getrusage` and `/proc` on JDK " + last
                + ". Each JDK has its own run, so differences of a few percent between JDKs are random.\n\n"
                + errors.markdown() + "\nA negative value is a contradiction between two readings:\n\n"
                + lowestTable.markdown();
    }

    private static AccuracyResult of(List<AccuracyResult> results, Workload workload) {
        return results.stream()
                .filter(result -> result.workload == workload)
                .findFirst()
                .orElse(null);
    }

    private static String error(AccuracyResult result, SplitReader reader) {
        if (result == null || !result.isRead(reader)) return "-";
        double error = result.userError(reader);
        return String.format(Locale.ROOT, Math.abs(error) < BOLD_PERCENT ? "%+.1f" : "**%+.1f**", error);
    }

    private static String lowest(AccuracyResult result, SplitReader reader) {
        if (result == null) return "-";
        double millis = result.leastSystemNanos.get(reader) / 1e6;
        return String.format(Locale.ROOT, millis < 0 ? "**%.2f**" : "%.2f", millis);
    }
}
