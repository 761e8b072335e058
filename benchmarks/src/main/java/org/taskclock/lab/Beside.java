// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.taskclock.report.Result;

/** What was measured as tables and curves, and every published row beside it. */
final class Beside {
    private static final String NO_TEXT = "";

    private final Published published;
    private final Measurements measured;
    private final Map<String, Long> steps;

    /**
     * Of one run.
     *
     * @param steps smallest steps in ns by {@link #step}
     */
    Beside(Published published, Measurements measured, Map<String, Long> steps) {
        this.published = published;
        this.measured = measured;
        this.steps = steps;
    }

    static String step(String jdk, Contender contender, String rung) {
        return jdk + " " + contender.id + " " + rung;
    }

    List<Result.Table> tables() {
        List<Result.Table> tables = new ArrayList<>();
        for (String jdk : measured.jdks()) tables.add(costs(jdk));
        for (Published.Figures figures : published.tables()) tables.add(besidePublished(figures));
        for (Published.Figures figures : published.tables()) {
            Published.Figures after = partner(figures);
            if (after != null) tables.add(improvement(figures, after));
        }
        if (measured.sampledThreads().size() > 1) {
            for (String jdk : measured.jdks()) tables.add(threads(jdk));
        }
        return tables;
    }

    /** The other one of a pair, for its first one. */
    private Published.Figures partner(Published.Figures figures) {
        List<Published.Figures> pair = published.tables().stream()
                .filter(table -> table.pair().equals(figures.pair()))
                .toList();
        return pair.get(0).equals(figures) ? pair.get(1) : null;
    }

    private static Result.Column column(String name, String unit) {
        return new Result.Column(name, unit);
    }

    /** One reading by one thread. */
    private Result.Table costs(String jdk) {
        Measurement empty = measured.average(jdk, Contender.NOTHING);
        List<List<Object>> rows = new ArrayList<>();
        for (Contender contender : Contender.values()) {
            List<String> rungs = measured.all().stream()
                    .filter(one -> one.jdk().equals(jdk) && one.contender() == contender)
                    .map(Measurement::rung)
                    .distinct()
                    .toList();
            for (String rung : rungs) {
                Measurement sampled = find(jdk, contender, rung, true);
                Measurement average = find(jdk, contender, rung, false);
                if (sampled == null && average == null) continue;
                Double net = average == null || empty == null || contender == Contender.NOTHING
                        ? null
                        : average.mean() - empty.mean();
                rows.add(Arrays.asList(
                        contender.text,
                        contender.isOurs() || contender.isUnderAgent() ? rung : "-",
                        steps.get(step(jdk, contender, rung)),
                        sampled == null ? null : sampled.mean(),
                        sampled == null ? null : sampled.row("p0.50"),
                        sampled == null ? null : sampled.row("p0.99"),
                        average == null ? null : average.mean(),
                        net));
            }
        }
        return new Result.Table(
                "One reading by one thread, JDK " + jdk,
                "SampleTime times single readings by System.nanoTime, whose own cost and step are in each: below some 100 ns it"
                        + " says little. AverageTime times many together; less the empty method it is what a reading"
                        + " costs a thread that reads often. The smallest step is that between two readings that"
                        + " follow each other.",
                List.of(
                        column("reader", ""),
                        column("rung", ""),
                        column("smallest step", "ns"),
                        column("SampleTime mean", "ns"),
                        column("p0.50", "ns"),
                        column("p0.99", "ns"),
                        column("AverageTime", "ns"),
                        column("less empty", "ns")),
                rows);
    }

    private Measurement find(String jdk, Contender contender, String rung, boolean sampled) {
        return measured.all().stream()
                .filter(one -> one.jdk().equals(jdk)
                        && one.contender() == contender
                        && one.rung().equals(rung)
                        && one.sampled() == sampled
                        && one.threads() == 1)
                .findFirst()
                .orElse(null);
    }

    private static List<String> rows() {
        List<String> rows = new ArrayList<>(List.of("mean"));
        rows.addAll(Measurement.percentileRows());
        return rows;
    }

    private Measurement beside(Published.Figures figures, String jdk) {
        return measured.sampled(jdk, figures.contender(measured.version(jdk)), figures.threads());
    }

    private Result.Table besidePublished(Published.Figures figures) {
        double nanos = Measurement.nanos(figures.unit());
        List<Result.Column> columns =
                new ArrayList<>(List.of(column("row", NO_TEXT), column("published", figures.unit())));
        List<String> readers = new ArrayList<>();
        for (String jdk : measured.jdks()) {
            columns.add(column("JDK " + jdk, figures.unit()));
            columns.add(column("ratio", "x"));
            columns.add(column("TaskClock", figures.unit()));
            Measurement ours = measured.sampled(jdk, Contender.TASKCLOCK_USER, figures.threads());
            String reader = figures.contender(measured.version(jdk)).text;
            readers.add("JDK " + jdk + ": " + reader + (ours == null ? "" : ", TaskClock.userNanos on " + ours.rung()));
        }
        List<List<Object>> rows = new ArrayList<>();
        for (String row : rows()) {
            Double value = figures.value(row);
            List<Object> cells = new ArrayList<>(
                    Arrays.asList(row, value == null ? figures.rows().get(row).getAsString() : (Object) value));
            for (String jdk : measured.jdks()) {
                Measurement here = beside(figures, jdk);
                Measurement ours = measured.sampled(jdk, Contender.TASKCLOCK_USER, figures.threads());
                cells.add(here == null ? null : (Object) (here.row(row) / nanos));
                cells.add(here == null || value == null ? null : (Object) (here.row(row) / nanos / value));
                cells.add(ours == null ? null : (Object) (ours.row(row) / nanos));
            }
            rows.add(cells);
        }
        Published.Source source = published.source(figures.source());
        return new Result.Table(
                figures.pair() + ": " + figures.title(),
                "Published: " + source.title() + "; " + source.machine() + ". The ratio is measured / published. "
                        + String.join("; ", readers) + ".",
                columns,
                rows);
    }

    /** How much less after than before. */
    private Result.Table improvement(Published.Figures before, Published.Figures after) {
        List<Result.Column> columns = new ArrayList<>(List.of(column("row", NO_TEXT), column("published", "x")));
        for (String jdk : measured.jdks()) columns.add(column("JDK " + jdk, "x"));
        List<List<Object>> rows = new ArrayList<>();
        for (String row : rows()) {
            Double first = before.value(row);
            Double second = after.value(row);
            List<Object> cells = new ArrayList<>(
                    Arrays.asList(row, first == null || second == null ? null : (Object) (first / second)));
            for (String jdk : measured.jdks()) {
                Measurement firstHere = beside(before, jdk);
                Measurement secondHere = beside(after, jdk);
                boolean both = firstHere != null && secondHere != null;
                cells.add(both ? (Object) (firstHere.row(row) / secondHere.row(row)) : null);
            }
            rows.add(cells);
        }
        return new Result.Table(
                before.pair() + ": how much less the second is",
                "\"" + before.title() + "\" divided by \"" + after.title() + "\", row by row.",
                columns,
                rows);
    }

    private Result.Table threads(String jdk) {
        List<Result.Column> columns = new ArrayList<>(List.of(column("reader", NO_TEXT), column("figure", NO_TEXT)));
        for (int threads : measured.sampledThreads()) columns.add(column(Integer.toString(threads), "ns"));
        List<List<Object>> rows = new ArrayList<>();
        for (Contender contender : Contender.values()) {
            for (String row : List.of("mean", "p0.50", "p0.99")) {
                List<Object> cells = new ArrayList<>(List.of(contender.text, row));
                int found = 0;
                for (int threads : measured.sampledThreads()) {
                    Measurement here = measured.sampled(jdk, contender, threads);
                    if (here != null) found++;
                    cells.add(here == null ? null : (Object) here.row(row));
                }
                if (found > 1) rows.add(cells);
            }
        }
        return new Result.Table(
                "By number of threads, JDK " + jdk,
                "SampleTime. With more threads than processors the mean holds readings during which another thread ran.",
                columns,
                rows);
    }

    List<Result.Bars> bars() {
        List<Result.Bars> bars = new ArrayList<>();
        for (String jdk : measured.jdks()) {
            List<Result.Bar> items = new ArrayList<>();
            for (Contender contender : Contender.values()) {
                Measurement sampled = measured.sampled(jdk, contender, 1);
                Measurement average = measured.average(jdk, contender);
                Measurement shown = average == null ? sampled : average;
                if (shown == null || contender == Contender.NOTHING) continue;
                Spread spread = shown.spread();
                items.add(new Result.Bar(contender.text, spread.middle(), spread.low(), spread.high(), false));
            }
            if (items.isEmpty()) continue;
            for (Published.Figures figures : published.tables()) {
                Double median = figures.value("p0.50");
                if (figures.threads() != 1 || median == null) continue;
                double value = median * Measurement.nanos(figures.unit());
                items.add(new Result.Bar("published: " + figures.title(), value, null, null, true));
            }
            bars.add(new Result.Bars(
                    "One reading by one thread, JDK " + jdk,
                    "The middle of the iterations, and the middle eight in ten of them; by AverageTime where that was"
                            + " measured, by SampleTime's medians elsewhere and where published.",
                    "ns",
                    items));
        }
        return bars;
    }

    List<Result.Percentiles> percentiles() {
        List<Result.Percentiles> all = new ArrayList<>();
        for (Published.Figures figures : published.tables()) {
            Published.Figures after = partner(figures);
            if (after == null) continue;
            List<Result.Series> series = new ArrayList<>();
            series.add(series(figures));
            series.add(series(after));
            int own = 0;
            for (String jdk : measured.jdks()) {
                for (Measurement one : Arrays.asList(
                        beside(figures, jdk),
                        beside(after, jdk),
                        measured.sampled(jdk, Contender.TASKCLOCK_USER, figures.threads()))) {
                    if (one == null) continue;
                    series.add(series(one, figures.unit()));
                    own++;
                }
            }
            if (own == 0) continue;
            all.add(new Result.Percentiles(
                    figures.pair() + ": published and measured",
                    "User time by " + figures.threads() + (figures.threads() == 1 ? " thread." : " threads."),
                    figures.unit(),
                    series));
        }
        return all;
    }

    private static Result.Series series(Published.Figures figures) {
        List<double[]> points = new ArrayList<>();
        for (String row : Measurement.percentileRows()) {
            Double value = figures.value(row);
            if (value != null) points.add(new double[] {Measurement.percent(row), value});
        }
        return new Result.Series("published: " + figures.title(), true, points);
    }

    private static Result.Series series(Measurement one, String unit) {
        List<double[]> points = new ArrayList<>();
        for (String row : Measurement.percentileRows()) {
            points.add(new double[] {Measurement.percent(row), one.row(row) / Measurement.nanos(unit)});
        }
        return new Result.Series("JDK " + one.jdk() + ": " + one.contender().text, false, points);
    }
}
