// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntToDoubleFunction;
import java.util.function.Predicate;
import org.taskclock.benchmarks.CadenceResult;
import org.taskclock.benchmarks.RoundStatistics;
import org.taskclock.benchmarks.RowSummary;
import org.taskclock.benchmarks.SwitchBenchmark;
import org.taskclock.report.Result;

/**
 * The tables of {@code overhead}. Differences are computed within each round, so that disturbances affect both sides.
 */
final class OverheadTables {
    static final String NOTHING = "nothing";
    static final String SYSTEM_CALL = "clock_gettime";
    static final String CPU_NANOS = "cpuNanos";
    private static final String NANO_TIME = "nanoTime";
    private static final String STOCK = "stock";
    private static final String CONTROL = "syscall";
    private static final double MAX_PERCENT = 3;
    private static final double MAX_ASKED_PERCENT = 50;

    /** The CPU time per turn, by round. Incomplete rounds are omitted. */
    static final class SwitchCosts {
        private final Map<String, Map<Integer, Double>> nanos = new LinkedHashMap<>();
        private final Set<String> backends = new LinkedHashSet<>();

        SwitchCosts(List<SwitchBenchmark.SwitchCost> costs) {
            for (SwitchBenchmark.SwitchCost cost : costs) {
                if (cost.refusal() != null) continue;
                backends.add(cost.backend());
                nanos.computeIfAbsent(cost.backend() + cost.reads(), unused -> new LinkedHashMap<>())
                        .put(cost.round(), cost.nanos());
            }
        }

        int completeRounds() {
            int contenders = 3;
            if (nanos.size() < contenders * backends.size()) return 0;
            return nanos.values().stream().mapToInt(Map::size).min().orElse(0);
        }

        double nanos(String backend, String reads, int round) {
            return nanos.get(backend + reads).get(round);
        }

        /**
         * Returns the cost of the marker: how many percent longer a turn takes than on backend syscall; NaN if unknown.
         */
        double markerPercent(String backend) {
            if (completeRounds() == 0 || !backends.contains(backend) || !backends.contains(CONTROL)) return Double.NaN;
            return new RoundStatistics(completeRounds())
                    .quantile(
                            0.5,
                            round -> 100 * (nanos(backend, CPU_NANOS, round) / nanos(CONTROL, CPU_NANOS, round) - 1));
        }
    }

    private OverheadTables() {}

    private record SwitchRow(String jdk, SwitchCosts all, String backend, String reads) {
        private double quantile(double fraction, IntToDoubleFunction figure) {
            return new RoundStatistics(all.completeRounds()).quantile(fraction, figure);
        }

        double nanos(int round) {
            return all.nanos(backend, reads, round);
        }

        double quantile(double fraction) {
            return quantile(fraction, this::nanos);
        }

        Object overNothing() {
            if (reads.equals(NOTHING)) return null;
            return quantile(0.5, round -> nanos(round) - all.nanos(backend, NOTHING, round));
        }

        Object percentOver(String other) {
            if (reads.equals(NOTHING)) return null;
            return quantile(0.5, round -> 100 * (nanos(round) / all.nanos(backend, other, round) - 1));
        }
    }

    static Result.Table switches(Map<String, List<SwitchBenchmark.SwitchCost>> byJdk) {
        List<SwitchRow> rows = new ArrayList<>();
        Set<String> refusals = new LinkedHashSet<>();
        byJdk.forEach((jdk, costs) -> {
            for (SwitchBenchmark.SwitchCost cost : costs) {
                if (cost.refusal() != null) refusals.add(cost.backend() + " was not measured: " + cost.refusal());
            }
            SwitchCosts all = new SwitchCosts(costs);
            if (all.completeRounds() == 0) return;
            for (String backend : all.backends) {
                for (String reads : List.of(NOTHING, SYSTEM_CALL, CPU_NANOS))
                    rows.add(new SwitchRow(jdk, all, backend, reads));
            }
        });
        return new TableBuilder<SwitchRow>()
                .column("backend", "", SwitchRow::backend)
                .column("JDK", "", SwitchRow::jdk)
                .column("reads per turn", "", SwitchRow::reads)
                .column("per turn", "ns", row -> row.quantile(0.5))
                .column("lower quartile", "ns", row -> row.quantile(0.25))
                .column("upper quartile", "ns", row -> row.quantile(0.75))
                .column("turns per second", "", row -> 1e9 / row.quantile(0.5))
                .column("over nothing", "ns", SwitchRow::overNothing)
                .column("over nothing", "%", row -> row.percentOver(NOTHING))
                .column(
                        "over clock_gettime",
                        "%",
                        row -> row.reads.equals(CPU_NANOS) ? row.percentOver(SYSTEM_CALL) : null)
                .column(
                        "over backend syscall",
                        "%",
                        row -> row.reads.equals(CPU_NANOS) && !row.backend.equals(CONTROL)
                                ? row.all.markerPercent(row.backend)
                                : null)
                .build("A program with 100,000 context switches per second", String.join(" ", refusals), rows);
    }

    // ---- a server

    private record ServerRow(
            String variant,
            String jdk,
            int count,
            List<ServerProgram.Figures> own,
            ServerRow first,
            ServerRow previous) {
        private double quantile(double fraction, IntToDoubleFunction figure) {
            return new RoundStatistics(count).quantile(fraction, figure);
        }

        double requestsPerSecond() {
            return quantile(0.5, round -> own.get(round).requestsPerSecond());
        }

        double micros(double fraction) {
            return quantile(fraction, round -> own.get(round).microsPerRequest());
        }

        static Object percentOver(ServerRow row, ServerRow other) {
            if (other == null) return null;
            return row.quantile(
                    0.5,
                    round -> 100
                            * (row.own.get(round).microsPerRequest()
                                            / other.own.get(round).microsPerRequest()
                                    - 1));
        }
    }

    /** Compares each variant with the first and with the previous one, within each round. */
    static Result.Table servers(Map<String, Map<String, List<ServerProgram.Figures>>> byJdk) {
        List<ServerRow> rows = new ArrayList<>();
        byJdk.forEach((jdk, variants) -> {
            int count = variants.values().stream().mapToInt(List::size).min().orElse(0);
            if (count == 0) return;
            ServerRow first = null;
            ServerRow previous = null;
            for (Map.Entry<String, List<ServerProgram.Figures>> variant : variants.entrySet()) {
                previous = new ServerRow(variant.getKey(), jdk, count, variant.getValue(), first, previous);
                if (first == null) first = previous;
                rows.add(previous);
            }
        });
        return new TableBuilder<ServerRow>()
                .column("started with", "", ServerRow::variant)
                .column("JDK", "", ServerRow::jdk)
                .column("requests per second", "", ServerRow::requestsPerSecond)
                .column("cpu per request", "us", row -> row.micros(0.5))
                .column("lower quartile", "us", row -> row.micros(0.25))
                .column("upper quartile", "us", row -> row.micros(0.75))
                .column("over the first", "%", row -> ServerRow.percentOver(row, row.first))
                .column("over the previous", "%", row -> ServerRow.percentOver(row, row.previous))
                .build(
                        "A server with a virtual thread per connection",
                        "Medians of the rounds. CPU time of the whole process, including the clients.",
                        rows);
    }

    // ---- one reading

    private record ReadingRow(String jdk, RowSummary summary) {}

    private static List<ReadingRow> rows(Map<String, List<CadenceResult>> byJdk, Predicate<RowSummary> included) {
        List<ReadingRow> rows = new ArrayList<>();
        byJdk.forEach((jdk, results) -> RowSummary.of(results).stream()
                .filter(included)
                .forEach(summary -> rows.add(new ReadingRow(jdk, summary))));
        return rows;
    }

    private static TableBuilder<ReadingRow> readings(String first, Function<RowSummary, ?> cell) {
        TableBuilder<ReadingRow> table = new TableBuilder<ReadingRow>()
                .column(first, "", row -> cell.apply(row.summary))
                .column("JDK", "", ReadingRow::jdk);
        for (String contender : List.of(NANO_TIME, SYSTEM_CALL, STOCK, CPU_NANOS))
            table.column(contender, "ns", row -> row.summary.mean(contender));
        return table;
    }

    static Result.Table byWork(Map<String, List<CadenceResult>> byJdk) {
        TableBuilder<ReadingRow> table = readings("work before the reading", RowSummary::text);
        for (String contender : List.of(SYSTEM_CALL, CPU_NANOS))
            table.column("middle half: " + contender, "ns", row -> row.summary.middle(contender));
        return table.column("system calls", "%", row -> row.summary.askedPercent())
                .build("One reading, by the work before it", "Means.", rows(byJdk, RowSummary::isByWork));
    }

    static Result.Table afterSwitches(Map<String, List<CadenceResult>> byJdk) {
        return readings("readings after a switch", RowSummary::reads)
                .build(
                        "One reading, by the number of readings after a switch",
                        "Means.",
                        rows(byJdk, RowSummary::isBySwitches));
    }

    static Result.Bars bars(String jdk, List<CadenceResult> results) {
        List<Result.Bar> bars = new ArrayList<>();
        for (RowSummary row : RowSummary.of(results)) {
            if (!row.isByWork()) continue;
            for (String contender : List.of(SYSTEM_CALL, CPU_NANOS)) {
                bars.add(new Result.Bar(row.text() + ", " + contender, row.mean(contender), null, null, false));
            }
        }
        return new Result.Bars("One reading, by the work before it, JDK " + jdk, "Means.", "ns", bars);
    }

    // ---- findings

    static List<Result.Finding> findings(
            Map<String, List<SwitchBenchmark.SwitchCost>> switches, Map<String, List<CadenceResult>> readings) {
        List<Result.Finding> findings = new ArrayList<>();
        for (String backend : List.of("rseq", "rseq-own", "rseq-take")) {
            Map<String, Double> percents = new LinkedHashMap<>();
            switches.forEach((jdk, costs) -> percents.put(jdk, new SwitchCosts(costs).markerPercent(backend)));
            findings.add(new ExperimentClaim(
                            "For a program with 100,000 context switches per second, the marker of " + backend
                                    + " costs less than 3 %",
                            "TaskClock",
                            "",
                            "%.1f %%",
                            value -> value < MAX_PERCENT)
                    .check(percents));
        }
        Map<String, Double> ratios = new LinkedHashMap<>();
        readings.forEach((jdk, results) -> {
            for (RowSummary row : RowSummary.of(results)) {
                // The first row is the tight loop. On backend syscall, every reading makes a system call.
                boolean asks = row.askedPercent() > MAX_ASKED_PERCENT;
                ratios.putIfAbsent(jdk, asks ? Double.NaN : row.middle(CPU_NANOS) / row.middle(SYSTEM_CALL));
            }
        });
        findings.add(new ExperimentClaim(
                        "In a tight loop, a reading without a system call costs at most a tenth of a system call",
                        "TaskClock",
                        "",
                        "%.2f of a system call",
                        value -> value < 0.1)
                .check(ratios));
        return findings;
    }
}
