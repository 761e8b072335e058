// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntToDoubleFunction;
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

    static Result.Table switches(Map<String, List<SwitchBenchmark.SwitchCost>> byJdk) {
        List<List<Object>> rows = new ArrayList<>();
        Set<String> refusals = new LinkedHashSet<>();
        byJdk.forEach((jdk, costs) -> {
            for (SwitchBenchmark.SwitchCost cost : costs) {
                if (cost.refusal() != null) refusals.add(cost.backend() + " was not measured: " + cost.refusal());
            }
            SwitchCosts all = new SwitchCosts(costs);
            if (all.completeRounds() == 0) return;
            for (String backend : all.backends) {
                for (String reads : List.of(NOTHING, SYSTEM_CALL, CPU_NANOS))
                    rows.add(switchRow(jdk, all, backend, reads));
            }
        });
        List<Result.Column> columns =
                YieldTables.columns("backend", "", "JDK", "", "reads per turn", "", "per turn", "ns");
        columns.addAll(YieldTables.columns(
                "lower quartile", "ns", "upper quartile", "ns", "turns per second", "", "over nothing", "ns"));
        columns.addAll(
                YieldTables.columns("over nothing", "%", "over clock_gettime", "%", "over backend syscall", "%"));
        return new Result.Table(
                "A program with 100,000 context switches per second", String.join(" ", refusals), columns, rows);
    }

    private static List<Object> switchRow(String jdk, SwitchCosts all, String backend, String reads) {
        RoundStatistics rounds = new RoundStatistics(all.completeRounds());
        IntToDoubleFunction own = round -> all.nanos(backend, reads, round);
        double median = rounds.quantile(0.5, own);
        boolean nothing = reads.equals(NOTHING);
        boolean ours = reads.equals(CPU_NANOS);
        return Arrays.asList(
                backend,
                jdk,
                reads,
                median,
                rounds.quantile(0.25, own),
                rounds.quantile(0.75, own),
                1e9 / median,
                nothing
                        ? null
                        : rounds.quantile(0.5, round -> own.applyAsDouble(round) - all.nanos(backend, NOTHING, round)),
                nothing ? null : percent(rounds, own, round -> all.nanos(backend, NOTHING, round)),
                ours ? percent(rounds, own, round -> all.nanos(backend, SYSTEM_CALL, round)) : null,
                ours && !backend.equals(CONTROL) ? YieldTables.known(all.markerPercent(backend)) : null);
    }

    private static double percent(RoundStatistics rounds, IntToDoubleFunction some, IntToDoubleFunction other) {
        return rounds.quantile(0.5, round -> 100 * (some.applyAsDouble(round) / other.applyAsDouble(round) - 1));
    }

    // ---- a server

    /** Compares each variant with the first and with the previous one, within each round. */
    static Result.Table servers(Map<String, Map<String, List<ServerProgram.Figures>>> byJdk) {
        List<List<Object>> rows = new ArrayList<>();
        byJdk.forEach((jdk, variants) -> {
            int count = variants.values().stream().mapToInt(List::size).min().orElse(0);
            if (count == 0) return;
            RoundStatistics rounds = new RoundStatistics(count);
            String first = variants.keySet().iterator().next();
            String before = first;
            for (Map.Entry<String, List<ServerProgram.Figures>> variant : variants.entrySet()) {
                IntToDoubleFunction own =
                        round -> microsPerRequest(variant.getValue().get(round));
                String previous = before;
                boolean isFirst = variant.getKey().equals(first);
                rows.add(Arrays.asList(
                        variant.getKey(),
                        jdk,
                        rounds.quantile(
                                0.5,
                                round -> variant.getValue().get(round).requests()
                                        / variant.getValue().get(round).seconds()),
                        rounds.quantile(0.5, own),
                        rounds.quantile(0.25, own),
                        rounds.quantile(0.75, own),
                        isFirst ? null : percent(rounds, own, of(variants, first)),
                        isFirst ? null : percent(rounds, own, of(variants, previous))));
                before = variant.getKey();
            }
        });
        List<Result.Column> columns = YieldTables.columns("started with", "", "JDK", "", "requests per second", "");
        columns.addAll(YieldTables.columns("cpu per request", "us", "lower quartile", "us", "upper quartile", "us"));
        columns.addAll(YieldTables.columns("over the first", "%", "over the previous", "%"));
        return new Result.Table(
                "A server with a virtual thread per connection",
                "Medians of the rounds. CPU time of the whole process, including the clients.",
                columns,
                rows);
    }

    private static IntToDoubleFunction of(Map<String, List<ServerProgram.Figures>> variants, String variant) {
        return round -> microsPerRequest(variants.get(variant).get(round));
    }

    private static double microsPerRequest(ServerProgram.Figures figures) {
        return figures.cpuNanos() / 1e3 / figures.requests();
    }

    // ---- one reading

    static Result.Table byWork(Map<String, List<CadenceResult>> byJdk) {
        List<List<Object>> rows = new ArrayList<>();
        byJdk.forEach((jdk, results) -> {
            for (RowSummary row : RowSummary.of(results)) {
                if (!row.isByWork()) continue;
                rows.add(Arrays.asList(
                        row.text(),
                        jdk,
                        row.mean(NANO_TIME),
                        row.mean(SYSTEM_CALL),
                        row.mean(STOCK),
                        row.mean(CPU_NANOS),
                        row.middle(SYSTEM_CALL),
                        row.middle(CPU_NANOS),
                        row.askedPercent()));
            }
        });
        List<Result.Column> columns = YieldTables.columns("work before the reading", "", "JDK", "");
        columns.addAll(columns(NANO_TIME, SYSTEM_CALL, STOCK, CPU_NANOS));
        columns.addAll(columns("middle half: " + SYSTEM_CALL, "middle half: " + CPU_NANOS));
        columns.add(new Result.Column("system calls", "%"));
        return new Result.Table("One reading, by the work before it", "Means.", columns, rows);
    }

    static Result.Table afterSwitches(Map<String, List<CadenceResult>> byJdk) {
        List<List<Object>> rows = new ArrayList<>();
        byJdk.forEach((jdk, results) -> {
            for (RowSummary row : RowSummary.of(results)) {
                if (!row.isBySwitches()) continue;
                rows.add(Arrays.asList(
                        row.reads(),
                        jdk,
                        row.mean(NANO_TIME),
                        row.mean(SYSTEM_CALL),
                        row.mean(STOCK),
                        row.mean(CPU_NANOS)));
            }
        });
        List<Result.Column> columns = YieldTables.columns("readings after a switch", "", "JDK", "");
        columns.addAll(columns(NANO_TIME, SYSTEM_CALL, STOCK, CPU_NANOS));
        return new Result.Table("One reading, by the number of readings after a switch", "Means.", columns, rows);
    }

    private static List<Result.Column> columns(String... contenders) {
        List<Result.Column> columns = new ArrayList<>();
        for (String contender : contenders) columns.add(new Result.Column(contender, "ns"));
        return columns;
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
        for (String backend : List.of("rseq", "rseq-own")) {
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
