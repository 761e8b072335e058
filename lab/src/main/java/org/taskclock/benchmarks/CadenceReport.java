// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Formats the results of {@link CadenceBenchmark}. */
final class CadenceReport {
    private static final List<ReadingLoop> CONTENDERS = List.of(
            ReadingLoop.COUNTER,
            ReadingLoop.EMPTY_CALL,
            ReadingLoop.NANO_TIME,
            ReadingLoop.SYSTEM_CALL,
            ReadingLoop.STOCK_CPU,
            ReadingLoop.CPU_NANOS);

    private final List<CadenceResult> results;
    private final boolean markdown;
    private final StringBuilder text = new StringBuilder();

    private CadenceReport(List<CadenceResult> results, boolean markdown) {
        this.results = results;
        this.markdown = markdown;
    }

    static String text(List<CadenceResult> results, boolean markdown) {
        CadenceReport report = new CadenceReport(results, markdown);
        report.append();
        return report.text.toString();
    }

    private void append() {
        text.append(results.stream()
                .map(result -> environment(result.environment()))
                .distinct()
                .collect(Collectors.joining("\n")));
        int forks = results.stream().mapToInt(CadenceResult::fork).max().orElse(0);
        text.append(Goal.format(
                "\nEach row runs in its own JVMs (forks: %d). Measurement starts one second after a JVM's first "
                        + "reading.\n",
                forks));
        List<RowSummary> rows = RowSummary.of(results);
        readings(ofGroup(rows, CadenceRow.Group.CADENCE), "work before each reading", "");
        readings(
                ofGroup(rows, CadenceRow.Group.SWITCHES),
                "readings after each switch",
                "Before each group of readings the thread blocks and another one runs. ");
        if (rows.stream().anyMatch(row -> row.isByWork() || row.isBySwitches())) explainReadings();
        threads(ofGroup(rows, CadenceRow.Group.THREADS));
        ofGroup(rows, CadenceRow.Group.FIRST).forEach(this::first);
        engine(ofGroup(rows, CadenceRow.Group.ENGINE));
    }

    private static String environment(CadenceResult.Environment environment) {
        return Goal.format(
                "JDK %s, backend %s by %s, %d processors.",
                environment.jdk(), environment.backend(), environment.binding(), environment.processors());
    }

    private static List<RowSummary> ofGroup(List<RowSummary> rows, CadenceRow.Group group) {
        return rows.stream().filter(row -> row.row().group() == group).toList();
    }

    private void append(String introduction, TextTable table) {
        text.append('\n').append(introduction).append("\n\n");
        text.append(table.text(markdown));
    }

    // ---- readings

    private void readings(List<RowSummary> rows, String first, String introduction) {
        if (rows.isEmpty()) return;
        List<String> headings = new ArrayList<>(List.of(first));
        for (ReadingLoop contender : CONTENDERS) {
            headings.add(contender.text);
            if (hasMiddle(contender)) headings.add("middle");
        }
        headings.addAll(List.of("asked", "switches", "of stock", "goal", "met"));
        TextTable table = new TextTable(headings.toArray(String[]::new));
        rows.forEach(row -> table.add(cells(row)));
        append(introduction + "Mean ns per reading.", table);
        rows.stream()
                .filter(row -> row.row().name().equals(CadenceRow.TIGHT))
                .forEach(row -> text.append(Goal.format(
                        "\nIn a tight loop cpuNanos takes %s ns more than the counter alone.\n",
                        row.range("%.1f", RowSummary::overCounter))));
    }

    private void explainReadings() {
        text.append("""

                Medians of the forks. Contenders alternate in blocks; the first tenth of each block is discarded. The
                time of an empty bracket is subtracted. counter: the time-stamp counter alone, read in C. empty call: a
                native call that does nothing, with the library's binding. middle: mean of the middle half. asked: share
                of cpuNanos readings that made a system call. switches: context switches per bracket. of stock: mean of
                cpuNanos / mean of stock in the same JVM (min to max of the forks).
                """);
    }

    private static boolean hasMiddle(ReadingLoop contender) {
        return contender == ReadingLoop.STOCK_CPU || contender == ReadingLoop.CPU_NANOS;
    }

    private static List<String> cells(RowSummary row) {
        List<String> cells = new ArrayList<>(List.of(row.text()));
        for (ReadingLoop contender : CONTENDERS) {
            cells.add(Goal.format("%,.1f", row.mean(contender.text)));
            if (hasMiddle(contender)) cells.add(Goal.format("%,.1f", row.middle(contender.text)));
        }
        cells.add(row.isCounting() ? Goal.format("%.3f %%", row.askedPercent()) : "all");
        cells.add(Goal.format("%.2f", row.switches()));
        cells.add(row.range("%.3f", RowSummary::ratio));
        CadenceGoal.Verdict verdict = CadenceGoal.check(row);
        cells.add(verdict.goal());
        cells.add(verdict.met());
        return cells;
    }

    // ---- threads

    private void threads(List<RowSummary> rows) {
        if (rows.isEmpty()) return;
        List<String> contenders =
                List.copyOf(rows.get(0).forks().get(0).cpuNanos().keySet());
        List<String> headings = new ArrayList<>(List.of("threads"));
        headings.addAll(contenders);
        TextTable table = new TextTable(headings.toArray(String[]::new));
        for (RowSummary row : rows) {
            List<String> cells = new ArrayList<>(List.of(row.text()));
            for (String contender : contenders)
                cells.add(row.range("%.1f", fork -> fork.cpuNanos().get(contender)));
            table.add(cells);
        }
        append(
                "All threads read in a tight loop at the same time. CPU time per reading in ns: median (min to max) "
                        + "of the forks.",
                table);
    }

    // ---- the first reading

    private void first(RowSummary row) {
        double[] nanos = row.forks().stream()
                .flatMap(fork -> fork.firstNanos().stream())
                .mapToDouble(Long::doubleValue)
                .toArray();
        RoundStatistics jvms = new RoundStatistics(nanos.length);
        CadenceGoal.Verdict verdict = CadenceGoal.checkFirst(
                row.forks().get(0).environment().binding(), jvms.quantile(0.5, jvm -> nanos[jvm]));
        TextTable table = new TextTable("first reading of a process", "median", "min", "max", "goal", "met");
        table.add(List.of(
                "ms",
                Goal.format("%.1f", jvms.quantile(0.5, jvm -> nanos[jvm]) / 1e6),
                Goal.format("%.1f", Arrays.stream(nanos).min().orElse(Double.NaN) / 1e6),
                Goal.format("%.1f", Arrays.stream(nanos).max().orElse(Double.NaN) / 1e6),
                verdict.goal(),
                verdict.met()));
        append(Goal.format("In %d JVMs:", nanos.length), table);
    }

    // ---- the engine

    private void engine(List<RowSummary> rows) {
        if (rows.isEmpty()) return;
        TextTable costs = new TextTable("engine", "reads", "CPU per block, ms", "ns per reading", "throughput lost, %");
        TextTable errors = new TextTable(
                "engine", "comparisons", "no call", "mean ahead", "99.99 %", "max ahead", "max behind", "width");
        for (RowSummary row : rows) {
            EngineSummary engine = new EngineSummary(row);
            engine.costs().forEach(costs::add);
            errors.add(engine.errors());
        }
        append("""
                A program shaped like a query engine: 4 drivers, quanta of 1 ms, operator calls of 2 to 200 us, one
                reading before and one after each call, a handoff after each quantum. Blocks of the same work alternate
                between clocks; each is compared with the block of the same cycle that reads nothing. CPU time: median
                (95 % confidence interval) of the blocks.""", costs);
        append("""
                Error of cpuNanos in ns: its distance from the interval between two readings of CLOCK_THREAD_CPUTIME_ID,
                one before and one after it; 0 inside the interval. width: median length of the interval. 99.99 %: of
                the worst fork.""", errors);
    }
}
