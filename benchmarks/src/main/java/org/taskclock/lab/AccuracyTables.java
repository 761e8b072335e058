// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleBiFunction;
import org.taskclock.benchmarks.Accuracy;
import org.taskclock.benchmarks.Outcome;
import org.taskclock.benchmarks.Reader;
import org.taskclock.benchmarks.Table;
import org.taskclock.benchmarks.Workload;
import org.taskclock.report.Result;

/** The tables of {@code accuracy}: of outcomes by JDK. */
final class AccuracyTables {
    /** From here on an error is shown bold: the reader says next to nothing. */
    private static final double BOLD_PERCENT = 50;
    /** What sampling may err by where nothing is in step with it. */
    private static final double FAIR_PERCENT = 10;

    private AccuracyTables() {}

    static Result.Table userErrors(Map<String, List<Outcome>> byJdk) {
        return errors("Error of user time, in percent of the CPU time used", byJdk, Outcome::userError);
    }

    static Result.Table systemErrors(Map<String, List<Outcome>> byJdk) {
        return errors("Error of system time, in percent of the CPU time used", byJdk, Outcome::systemError);
    }

    private static Result.Table errors(
            String title, Map<String, List<Outcome>> byJdk, ToDoubleBiFunction<Outcome, Reader> error) {
        List<List<Object>> rows = new ArrayList<>();
        byJdk.forEach((jdk, outcomes) -> {
            for (Outcome outcome : outcomes) {
                List<Object> row = new ArrayList<>(Arrays.asList(
                        outcome.workload.toString(),
                        jdk,
                        outcome.cpuNanos / 1e6,
                        outcome.percent(outcome.userNanos),
                        outcome.percent(outcome.unsureNanos())));
                for (Reader reader : Reader.values()) {
                    row.add(outcome.isRead(reader) ? error.applyAsDouble(outcome, reader) : null);
                }
                rows.add(row);
            }
        });
        List<Result.Column> columns = YieldTables.columns("workload", "", "JDK", "", "cpu", "ms", "user, by hand", "%");
        columns.add(new Result.Column("not sure of", "%"));
        for (Reader reader : Reader.values()) columns.add(new Result.Column(reader.toString(), "%"));
        return new Result.Table(
                title,
                "By hand: from readings of the precise clock before and after each burst. Not sure of: what is in no burst,"
                        + " counted as system time.",
                columns,
                rows);
    }

    static Result.Table least(Map<String, List<Outcome>> byJdk) {
        List<List<Object>> rows = new ArrayList<>();
        byJdk.forEach((jdk, outcomes) -> {
            for (Outcome outcome : outcomes) {
                if (outcome.leastSystemNanos.isEmpty()) continue;
                List<Object> row = new ArrayList<>(List.of(outcome.workload.toString(), jdk));
                for (Reader reader : Accuracy.SAMPLED) row.add(outcome.leastSystemNanos.get(reader) / 1e6);
                rows.add(row);
            }
        });
        List<Result.Column> columns = YieldTables.columns("workload", "", "JDK", "");
        for (Reader reader : Accuracy.SAMPLED) columns.add(new Result.Column(reader.toString(), "ms"));
        return new Result.Table("Least cpu - user seen on the way", "Less than nothing is impossible.", columns, rows);
    }

    static Result.Bars bars(String jdk, List<Outcome> outcomes) {
        List<Result.Bar> bars = new ArrayList<>();
        for (Outcome outcome : outcomes) {
            for (Reader reader : List.of(Reader.TASKCLOCK, Reader.STOCK)) {
                if (!outcome.isRead(reader)) continue;
                bars.add(
                        new Result.Bar(outcome.workload + ", " + reader, outcome.userError(reader), null, null, false));
            }
        }
        return new Result.Bars("Error of user time, JDK " + jdk, "Of the CPU time used.", "%", bars);
    }

    static List<Result.Finding> findings(Map<String, List<Outcome>> byJdk, long tickNanos) {
        List<Result.Finding> findings = new ArrayList<>();
        Map<String, Double> worst = new LinkedHashMap<>();
        byJdk.forEach((jdk, outcomes) -> worst.put(
                jdk,
                outcomes.stream()
                        .filter(outcome -> outcome.isRead(Reader.STOCK))
                        .mapToDouble(outcome -> Math.abs(outcome.systemError(Reader.STOCK)))
                        .max()
                        .orElse(Double.NaN)));
        findings.add(new Claim(
                        "The difference of ThreadMXBean's CPU and user time is the system time",
                        Newsletter.SOURCE,
                        "",
                        "at worst %.0f %% of the CPU time off",
                        value -> value <= FAIR_PERCENT)
                .judge(worst));
        findings.add(new Claim(
                        "and, however the kernel samples, not less than nothing",
                        Newsletter.SOURCE,
                        "",
                        "at least %.2f ms was seen",
                        value -> value >= 0)
                .judge(leastMillis(byJdk, Reader.STOCK)));
        findings.add(new Claim(
                        "TaskClock's user and system time are never less than nothing, and make up its CPU time",
                        "TaskClock's contract",
                        "",
                        "at least %.2f ms was seen",
                        value -> value >= 0)
                .judge(leastMillis(byJdk, Reader.TASKCLOCK)));
        Map<String, Double> ticks = new LinkedHashMap<>();
        byJdk.forEach((jdk, outcomes) -> ticks.put(
                jdk,
                outcomes.stream()
                                .filter(outcome -> outcome.isRead(Reader.RUSAGE))
                                .mapToDouble(outcome ->
                                        Math.abs(user(outcome, Reader.TASKCLOCK) - user(outcome, Reader.RUSAGE)))
                                .max()
                                .orElse(Double.NaN)
                        / tickNanos));
        // One at the start and one at the end.
        findings.add(new Claim(
                        "TaskClock's split is getrusage's within one tick, at each reading",
                        "TaskClock's contract",
                        "",
                        "%.2f ticks between two readings",
                        value -> value <= 2)
                .judge(ticks));
        return findings;
    }

    private static double user(Outcome outcome, Reader reader) {
        return outcome.readings.get(reader).userNanos();
    }

    private static Map<String, Double> leastMillis(Map<String, List<Outcome>> byJdk, Reader reader) {
        Map<String, Double> least = new LinkedHashMap<>();
        byJdk.forEach((jdk, outcomes) -> least.put(
                jdk,
                outcomes.stream()
                        .filter(outcome -> outcome.leastSystemNanos.containsKey(reader))
                        .mapToDouble(outcome -> outcome.leastSystemNanos.get(reader) / 1e6)
                        .min()
                        .orElse(Double.NaN)));
        return least;
    }

    // ---- docs/accuracy.md

    /** One row for each workload that all JDKs have: the truth and what does not depend on the JDK by the last of them. */
    static String markdown(Map<String, List<Outcome>> byJdk) {
        List<String> jdks = new ArrayList<>(byJdk.keySet());
        String last = jdks.get(jdks.size() - 1);
        List<String> headings =
                new ArrayList<>(List.of("workload", "user, by hand", "TaskClock", "getrusage", "`/proc`"));
        for (String jdk : jdks) headings.add("stock, JDK " + jdk);
        Table errors = new Table(headings.toArray(String[]::new));
        headings = new ArrayList<>(List.of("least `cpu - user` seen, ms", "TaskClock"));
        for (String jdk : jdks) headings.add("stock, JDK " + jdk);
        Table leasts = new Table(headings.toArray(String[]::new));
        for (Workload workload : Workload.values()) {
            Outcome outcome = of(byJdk.get(last), workload);
            if (outcome == null) continue;
            List<String> row = new ArrayList<>(List.of(workload.toString()));
            row.add(String.format(Locale.ROOT, "%.1f %%", outcome.percent(outcome.userNanos)));
            for (Reader reader : List.of(Reader.TASKCLOCK, Reader.RUSAGE, Reader.PROC)) row.add(error(outcome, reader));
            for (String jdk : jdks) row.add(error(of(byJdk.get(jdk), workload), Reader.STOCK));
            errors.add(row);
            if (outcome.leastSystemNanos.isEmpty()) continue;
            List<String> least = new ArrayList<>(List.of(workload.toString(), least(outcome, Reader.TASKCLOCK)));
            for (String jdk : jdks) least.add(least(of(byJdk.get(jdk), workload), Reader.STOCK));
            leasts.add(least);
        }
        return "TaskClock, `getrusage` and `/proc` on JDK " + last
                + ". Columns of different JDKs are different runs: differences of a few percent between them are chance.\n\n"
                + errors.markdown() + "\nLess than nothing is impossible:\n\n" + leasts.markdown();
    }

    private static Outcome of(List<Outcome> outcomes, Workload workload) {
        return outcomes.stream()
                .filter(outcome -> outcome.workload == workload)
                .findFirst()
                .orElse(null);
    }

    private static String error(Outcome outcome, Reader reader) {
        if (outcome == null || !outcome.isRead(reader)) return "-";
        double error = outcome.userError(reader);
        return String.format(Locale.ROOT, Math.abs(error) < BOLD_PERCENT ? "%+.1f" : "**%+.1f**", error);
    }

    private static String least(Outcome outcome, Reader reader) {
        if (outcome == null) return "-";
        double millis = outcome.leastSystemNanos.get(reader) / 1e6;
        return String.format(Locale.ROOT, millis < 0 ? "**%.2f**" : "%.2f", millis);
    }
}
