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
import org.taskclock.benchmarks.Rounds;
import org.taskclock.benchmarks.RowSummary;
import org.taskclock.benchmarks.Switches;
import org.taskclock.report.Result;

/** The tables of {@code overhead}. Differences are taken round by round, so that what disturbs one disturbs both. */
final class OverheadTables {
    static final String NOTHING = "nothing";
    static final String SYSTEM_CALL = "clock_gettime";
    static final String CPU_NANOS = "cpuNanos";
    private static final String NANO_TIME = "nanoTime";
    private static final String STOCK = "stock";
    private static final String CONTROL = "syscall";
    private static final double MOST_PERCENT = 3;
    private static final double SOME_PERCENT = 50;

    /** What a turn took, round by round; rounds that are not complete are left out. */
    static final class Turns {
        private final Map<String, Map<Integer, Double>> nanos = new LinkedHashMap<>();
        private final Set<String> rungs = new LinkedHashSet<>();

        Turns(List<Switches.Turn> turns) {
            for (Switches.Turn turn : turns) {
                if (turn.refusal() != null) continue;
                rungs.add(turn.rung());
                nanos.computeIfAbsent(turn.rung() + turn.reads(), unused -> new LinkedHashMap<>())
                        .put(turn.round(), turn.nanos());
            }
        }

        int complete() {
            int contenders = 3;
            if (nanos.size() < contenders * rungs.size()) return 0;
            return nanos.values().stream().mapToInt(Map::size).min().orElse(0);
        }

        double nanos(String rung, String reads, int round) {
            return nanos.get(rung + reads).get(round);
        }

        /** By how many percent a turn on a rung takes longer than on the rung syscall: what the marker costs; NaN if not known. */
        double markerPercent(String rung) {
            if (complete() == 0 || !rungs.contains(rung) || !rungs.contains(CONTROL)) return Double.NaN;
            return new Rounds(complete())
                    .quantile(
                            0.5, round -> 100 * (nanos(rung, CPU_NANOS, round) / nanos(CONTROL, CPU_NANOS, round) - 1));
        }
    }

    private OverheadTables() {}

    static Result.Table switches(Map<String, List<Switches.Turn>> byJdk) {
        List<List<Object>> rows = new ArrayList<>();
        Set<String> refusals = new LinkedHashSet<>();
        byJdk.forEach((jdk, turns) -> {
            for (Switches.Turn turn : turns) {
                if (turn.refusal() != null) refusals.add(turn.rung() + " was not measured: " + turn.refusal());
            }
            Turns all = new Turns(turns);
            if (all.complete() == 0) return;
            for (String rung : all.rungs) {
                for (String reads : List.of(NOTHING, SYSTEM_CALL, CPU_NANOS)) rows.add(turn(jdk, all, rung, reads));
            }
        });
        List<Result.Column> columns = YieldTables.columns("rung", "", "JDK", "", "each turn reads", "", "a turn", "ns");
        columns.addAll(
                YieldTables.columns("lower quartile", "ns", "upper", "ns", "a second", "", "over nothing", "ns"));
        columns.addAll(
                YieldTables.columns("over nothing", "%", "over the system call", "%", "over the rung syscall", "%"));
        return new Result.Table(
                "A program that switches 100,000 times a second", String.join(" ", refusals), columns, rows);
    }

    private static List<Object> turn(String jdk, Turns all, String rung, String reads) {
        Rounds rounds = new Rounds(all.complete());
        IntToDoubleFunction own = round -> all.nanos(rung, reads, round);
        double median = rounds.quantile(0.5, own);
        boolean nothing = reads.equals(NOTHING);
        boolean ours = reads.equals(CPU_NANOS);
        return Arrays.asList(
                rung,
                jdk,
                reads,
                median,
                rounds.quantile(0.25, own),
                rounds.quantile(0.75, own),
                1e9 / median,
                nothing
                        ? null
                        : rounds.quantile(0.5, round -> own.applyAsDouble(round) - all.nanos(rung, NOTHING, round)),
                nothing ? null : percent(rounds, own, round -> all.nanos(rung, NOTHING, round)),
                ours ? percent(rounds, own, round -> all.nanos(rung, SYSTEM_CALL, round)) : null,
                ours && !rung.equals(CONTROL) ? YieldTables.known(all.markerPercent(rung)) : null);
    }

    private static double percent(Rounds rounds, IntToDoubleFunction some, IntToDoubleFunction other) {
        return rounds.quantile(0.5, round -> 100 * (some.applyAsDouble(round) / other.applyAsDouble(round) - 1));
    }

    // ---- a server

    /** Figures of one JDK by variant, round by round; the first variant is what the others are compared with. */
    static Result.Table servers(Map<String, Map<String, List<Server.Figures>>> byJdk) {
        List<List<Object>> rows = new ArrayList<>();
        byJdk.forEach((jdk, variants) -> {
            int count = variants.values().stream().mapToInt(List::size).min().orElse(0);
            if (count == 0) return;
            Rounds rounds = new Rounds(count);
            String first = variants.keySet().iterator().next();
            String before = first;
            for (Map.Entry<String, List<Server.Figures>> variant : variants.entrySet()) {
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
        List<Result.Column> columns = YieldTables.columns("started with", "", "JDK", "", "requests a second", "");
        columns.addAll(YieldTables.columns("cpu a request", "us", "lower quartile", "us", "upper", "us"));
        columns.addAll(YieldTables.columns("over the first", "%", "over the one before", "%"));
        return new Result.Table(
                "A server with a virtual thread for each connection",
                "Medians of the rounds. CPU time of the whole process, clients too.",
                columns,
                rows);
    }

    private static IntToDoubleFunction of(Map<String, List<Server.Figures>> variants, String variant) {
        return round -> microsPerRequest(variants.get(variant).get(round));
    }

    private static double microsPerRequest(Server.Figures figures) {
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
        List<Result.Column> columns = YieldTables.columns("work before each reading", "", "JDK", "");
        columns.addAll(columns(NANO_TIME, SYSTEM_CALL, STOCK, CPU_NANOS));
        columns.addAll(columns("middle half: " + SYSTEM_CALL, "middle half: " + CPU_NANOS));
        columns.add(new Result.Column("asked the kernel", "%"));
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
        List<Result.Column> columns = YieldTables.columns("readings after each switch", "", "JDK", "");
        columns.addAll(columns(NANO_TIME, SYSTEM_CALL, STOCK, CPU_NANOS));
        return new Result.Table("One reading, by how many come after each switch", "Means.", columns, rows);
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
            Map<String, List<Switches.Turn>> switches, Map<String, List<CadenceResult>> readings) {
        List<Result.Finding> findings = new ArrayList<>();
        for (String rung : List.of("rseq", "rseq-own")) {
            Map<String, Double> percents = new LinkedHashMap<>();
            switches.forEach((jdk, turns) -> percents.put(jdk, new Turns(turns).markerPercent(rung)));
            findings.add(new Claim(
                            "A program that switches 100,000 times a second pays less than 3 % for the marker of "
                                    + rung,
                            "TaskClock",
                            "",
                            "%.1f %%",
                            value -> value < MOST_PERCENT)
                    .judge(percents));
        }
        Map<String, Double> ratios = new LinkedHashMap<>();
        readings.forEach((jdk, results) -> {
            for (RowSummary row : RowSummary.of(results)) {
                // The first row of all: a tight loop. On the rung syscall each reading asks.
                boolean asks = row.askedPercent() > SOME_PERCENT;
                ratios.putIfAbsent(jdk, asks ? Double.NaN : row.middle(CPU_NANOS) / row.middle(SYSTEM_CALL));
            }
        });
        findings.add(new Claim(
                        "Without a system call a reading in a tight loop costs a tenth of one at most",
                        "TaskClock",
                        "",
                        "%.2f of it",
                        value -> value < 0.1)
                .judge(ratios));
        return findings;
    }
}
