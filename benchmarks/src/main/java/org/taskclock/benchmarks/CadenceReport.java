// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Shows what {@link CadenceBenchmark} measured. */
final class CadenceReport {
    private static final List<Contender> SHOWN = List.of(
            Contender.COUNTER,
            Contender.EMPTY_CALL,
            Contender.NANO_TIME,
            Contender.SYSTEM_CALL,
            Contender.STOCK,
            Contender.CPU_NANOS);

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
                "\nEach row runs in its own JVMs (forks: %d). Measurement starts one second after a JVM's first reading.\n",
                forks));
        List<RowSummary> rows = RowSummary.of(results);
        readings(of(rows, CadenceRow.Group.CADENCE), "work before each reading", "");
        readings(
                of(rows, CadenceRow.Group.SWITCHES),
                "readings after each switch",
                "Before each group of readings the thread blocks and another one runs. ");
        if (rows.stream().anyMatch(row -> row.isByWork() || row.isBySwitches())) explainReadings();
        threads(of(rows, CadenceRow.Group.THREADS));
        of(rows, CadenceRow.Group.FIRST).forEach(this::first);
        engine(of(rows, CadenceRow.Group.ENGINE));
    }

    private static String environment(CadenceResult.Environment environment) {
        return Goal.format(
                "JDK %s, rung %s by %s, %d processors.",
                environment.jdk(), environment.rung(), environment.binding(), environment.processors());
    }

    private static List<RowSummary> of(List<RowSummary> rows, CadenceRow.Group group) {
        return rows.stream().filter(row -> row.row().group() == group).toList();
    }

    private void append(String introduction, Table table) {
        text.append('\n').append(introduction).append("\n\n");
        text.append(markdown ? table.markdown() : table.aligned());
    }

    // ---- readings

    private void readings(List<RowSummary> rows, String first, String introduction) {
        if (rows.isEmpty()) return;
        List<String> headings = new ArrayList<>(List.of(first));
        for (Contender contender : SHOWN) {
            headings.add(contender.text);
            if (hasMiddle(contender)) headings.add("middle");
        }
        headings.addAll(List.of("asked", "switches", "of stock", "goal", "met"));
        Table table = new Table(headings.toArray(String[]::new));
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

                Medians of the forks. Contenders take turns in blocks; the first tenth of each block is discarded. The time of an empty
                bracket is subtracted. counter: the time-stamp counter alone, read in C. empty call: a native call that does nothing,
                with the library's binding. middle: mean of the middle half. asked: share of cpuNanos readings that made a system
                call. switches: context switches per bracket. of stock: mean of cpuNanos / mean of stock in the same JVM (min to max
                of the forks).
                """);
    }

    private static boolean hasMiddle(Contender contender) {
        return contender == Contender.STOCK || contender == Contender.CPU_NANOS;
    }

    private static List<String> cells(RowSummary row) {
        List<String> cells = new ArrayList<>(List.of(row.text()));
        for (Contender contender : SHOWN) {
            cells.add(Goal.format("%,.1f", row.mean(contender.text)));
            if (hasMiddle(contender)) cells.add(Goal.format("%,.1f", row.middle(contender.text)));
        }
        cells.add(row.isCounting() ? Goal.format("%.3f %%", row.askedPercent()) : "all");
        cells.add(Goal.format("%.2f", row.switches()));
        cells.add(row.range("%.3f", RowSummary::ratio));
        CadenceGoal.Verdict verdict = CadenceGoal.judge(row);
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
        Table table = new Table(headings.toArray(String[]::new));
        for (RowSummary row : rows) {
            List<String> cells = new ArrayList<>(List.of(row.text()));
            for (String contender : contenders)
                cells.add(row.range("%.1f", fork -> fork.cpuNanos().get(contender)));
            table.add(cells);
        }
        append(
                "All threads read in a tight loop at the same time. CPU time per reading in ns: median (min to max) of the"
                        + " forks.",
                table);
    }

    // ---- the first reading

    private void first(RowSummary row) {
        double[] nanos = row.forks().stream()
                .flatMap(fork -> fork.firstNanos().stream())
                .mapToDouble(Long::doubleValue)
                .toArray();
        Rounds jvms = new Rounds(nanos.length);
        CadenceGoal.Verdict verdict = CadenceGoal.judgeFirst(
                row.forks().get(0).environment().binding(), jvms.quantile(0.5, jvm -> nanos[jvm]));
        Table table = new Table("first reading of a process", "median", "min", "max", "goal", "met");
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
        Table costs = new Table("engine", "reads", "CPU per block, ms", "ns per reading", "throughput lost, %");
        Table errors = new Table(
                "engine", "comparisons", "no call", "mean ahead", "99.99 %", "most ahead", "most behind", "width");
        for (RowSummary row : rows) {
            EngineSummary engine = new EngineSummary(row);
            engine.costs().forEach(costs::add);
            errors.add(engine.errors());
        }
        append("""
                A program with the shape of a query engine: 4 drivers, quanta of 1 ms, operator calls of 2 to 200 us, one reading before
                and one after each call, a handoff after each quantum. Blocks of the same work alternate between clocks; each is
                compared with the block of its cycle that reads nothing. CPU time: median (95 % confidence interval) of the blocks.""", costs);
        append("""
                Error of cpuNanos in ns: how far it lies outside of the two readings of CLOCK_THREAD_CPUTIME_ID around it; 0 if it lies
                between them. width: median distance of these two. 99.99 %: of the worst fork.""", errors);
    }
}
