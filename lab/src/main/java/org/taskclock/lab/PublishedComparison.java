// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.taskclock.report.Result;

/**
 * Tables and curves that compare the measurements with every published figure.
 *
 * @param steps smallest steps in ns by {@link #stepKey}
 */
record PublishedComparison(PublishedData published, Measurements measured, Map<String, Long> steps) {
    static String stepKey(String jdk, Contender contender, String backend) {
        return jdk + " " + contender.id + " " + backend;
    }

    List<Result.Table> tables() {
        List<Result.Table> tables = new ArrayList<>();
        for (String jdk : measured.jdks()) tables.add(costs(jdk));
        for (PublishedData.Figures figures : published.tables()) tables.add(comparison(figures));
        for (PublishedData.Figures figures : published.tables()) {
            PublishedData.Figures after = partner(figures);
            if (after != null) tables.add(improvement(figures, after));
        }
        if (measured.sampledThreads().size() > 1) {
            for (String jdk : measured.jdks()) tables.add(threads(jdk));
        }
        return tables;
    }

    /** Returns the second table of a pair, given the first, or null if this is the second. */
    private PublishedData.Figures partner(PublishedData.Figures figures) {
        List<PublishedData.Figures> pair = published.tables().stream()
                .filter(table -> table.pair().equals(figures.pair()))
                .toList();
        return pair.get(0).equals(figures) ? pair.get(1) : null;
    }

    /** The measurements of a contender on a backend, one of which may be null. */
    private record Cost(
            Contender contender, String backend, Long step, Measurement sampled, Measurement average, Double net) {}

    /** Returns the cost of one reading on one thread. */
    private Result.Table costs(String jdk) {
        Measurement empty = measured.average(jdk, Contender.NOTHING);
        List<Cost> costs = new ArrayList<>();
        for (Contender contender : Contender.values()) {
            List<String> backends = measured.all().stream()
                    .filter(one -> one.jdk().equals(jdk) && one.contender() == contender)
                    .map(Measurement::backend)
                    .distinct()
                    .toList();
            for (String backend : backends) {
                Measurement sampled = measured.find(jdk, contender, backend, true, 1);
                Measurement average = measured.find(jdk, contender, backend, false, 1);
                if (sampled == null && average == null) continue;
                boolean hasNet = average != null && empty != null && contender != Contender.NOTHING;
                Double net = hasNet ? (Double) (average.mean() - empty.mean()) : null;
                costs.add(new Cost(
                        contender, backend, steps.get(stepKey(jdk, contender, backend)), sampled, average, net));
            }
        }
        return new TableBuilder<Cost>()
                .column("reader", "", cost -> cost.contender.text)
                .column(
                        "backend",
                        "",
                        cost -> cost.contender.isOurs() || cost.contender.isUnderAgent() ? cost.backend : "-")
                .column("smallest step", "ns", Cost::step)
                .columns(
                        Cost::sampled,
                        new TableBuilder<Measurement>()
                                .column("SampleTime mean", "ns", Measurement::mean)
                                .column("p0.50", "ns", one -> one.row("p0.50"))
                                .column("p0.99", "ns", one -> one.row("p0.99")))
                .columns(Cost::average, new TableBuilder<Measurement>().column("AverageTime", "ns", Measurement::mean))
                .column("minus empty", "ns", Cost::net)
                .build(
                        "One reading on one thread, JDK " + jdk,
                        "SampleTime times single readings with System.nanoTime and includes its cost and step, so it "
                                + "says little about readings below 100 ns. AverageTime times many readings together. "
                                + "Minus the empty method, it is the cost of a reading for a thread that reads often. "
                                + "The smallest step is that between two consecutive readings.",
                        costs);
    }

    private static List<String> rows() {
        List<String> rows = new ArrayList<>(List.of("mean"));
        rows.addAll(Measurement.percentileRows());
        return rows;
    }

    private Measurement measured(PublishedData.Figures figures, String jdk) {
        return measured.sampled(jdk, figures.contender(measured.version(jdk)), figures.threads());
    }

    private static Double ratio(Double some, Double other) {
        return some == null || other == null ? null : (Double) (some / other);
    }

    /** Returns a row of a measurement, or null if there is no measurement. */
    private static Double value(Measurement measurement, String row, double nanos) {
        return measurement == null ? null : (Double) (measurement.row(row) / nanos);
    }

    private Result.Table comparison(PublishedData.Figures figures) {
        double nanos = Measurement.nanos(figures.unit());
        TableBuilder<String> table = new TableBuilder<String>()
                .column("row", "", row -> row)
                .column("published", figures.unit(), row -> {
                    Double value = figures.value(row);
                    return value == null ? figures.rows().get(row).getAsString() : value;
                });
        List<String> readers = new ArrayList<>();
        for (String jdk : measured.jdks()) {
            Measurement same = measured(figures, jdk);
            Measurement ours = measured.sampled(jdk, Contender.TASKCLOCK_USER, figures.threads());
            table.column("JDK " + jdk, figures.unit(), row -> value(same, row, nanos))
                    .column("ratio", "x", row -> ratio(value(same, row, nanos), figures.value(row)))
                    .column("TaskClock", figures.unit(), row -> value(ours, row, nanos));
            String reader = figures.contender(measured.version(jdk)).text;
            readers.add(
                    "JDK " + jdk + ": " + reader + (ours == null ? "" : ", TaskClock.userNanos on " + ours.backend()));
        }
        PublishedData.Source source = published.source(figures.source());
        return table.build(
                figures.pair() + ": " + figures.title(),
                "Published: " + source.title() + "; " + source.machine() + ". Ratio: measured / published. "
                        + String.join("; ", readers) + ".",
                rows());
    }

    /** Divides the first table of a pair by the second. */
    private Result.Table improvement(PublishedData.Figures before, PublishedData.Figures after) {
        TableBuilder<String> table = new TableBuilder<String>()
                .column("row", "", row -> row)
                .column("published", "x", row -> ratio(before.value(row), after.value(row)));
        for (String jdk : measured.jdks()) {
            Measurement first = measured(before, jdk);
            Measurement second = measured(after, jdk);
            table.column("JDK " + jdk, "x", row -> ratio(value(first, row, 1), value(second, row, 1)));
        }
        return table.build(
                before.pair() + ": improvement",
                "\"" + before.title() + "\" divided by \"" + after.title() + "\".",
                rows());
    }

    private record ContenderRow(Contender contender, String row) {}

    private Result.Table threads(String jdk) {
        List<ContenderRow> rows = new ArrayList<>();
        for (Contender contender : Contender.values()) {
            long found = measured.sampledThreads().stream()
                    .filter(threads -> measured.sampled(jdk, contender, threads) != null)
                    .count();
            if (found < 2) continue;
            for (String row : List.of("mean", "p0.50", "p0.99")) rows.add(new ContenderRow(contender, row));
        }
        TableBuilder<ContenderRow> table = new TableBuilder<ContenderRow>()
                .column("reader", "", row -> row.contender.text)
                .column("figure", "", ContenderRow::row);
        for (int threads : measured.sampledThreads()) {
            table.column(
                    Integer.toString(threads),
                    "ns",
                    row -> value(measured.sampled(jdk, row.contender, threads), row.row, 1));
        }
        return table.build(
                "By number of threads, JDK " + jdk,
                "SampleTime. With more threads than processors, the mean includes readings during which another "
                        + "thread ran.",
                rows);
    }

    List<Result.Bars> bars() {
        List<Result.Bars> bars = new ArrayList<>();
        for (String jdk : measured.jdks()) {
            List<Result.Bar> items = new ArrayList<>();
            for (Contender contender : Contender.values()) {
                Measurement sampled = measured.sampled(jdk, contender, 1);
                Measurement average = measured.average(jdk, contender);
                Measurement preferred = average == null ? sampled : average;
                if (preferred == null || contender == Contender.NOTHING) continue;
                QuantileRange range = preferred.range();
                items.add(new Result.Bar(contender.text, range.median(), range.low(), range.high(), false));
            }
            if (items.isEmpty()) continue;
            for (PublishedData.Figures figures : published.tables()) {
                Double median = figures.value("p0.50");
                if (figures.threads() != 1 || median == null) continue;
                double value = median * Measurement.nanos(figures.unit());
                items.add(new Result.Bar("published: " + figures.title(), value, null, null, true));
            }
            bars.add(new Result.Bars(
                    "One reading on one thread, JDK " + jdk,
                    "Median of the iterations, with the 10th and 90th percentile: of AverageTime if measured, "
                            + "otherwise of the medians of SampleTime. Published figures are medians of SampleTime.",
                    "ns",
                    items));
        }
        return bars;
    }

    List<Result.Percentiles> percentiles() {
        List<Result.Percentiles> all = new ArrayList<>();
        for (PublishedData.Figures figures : published.tables()) {
            PublishedData.Figures after = partner(figures);
            if (after == null) continue;
            List<Result.Series> series = new ArrayList<>();
            series.add(series(figures));
            series.add(series(after));
            int measuredCurves = 0;
            for (String jdk : measured.jdks()) {
                for (Measurement one : Arrays.asList(
                        measured(figures, jdk),
                        measured(after, jdk),
                        measured.sampled(jdk, Contender.TASKCLOCK_USER, figures.threads()))) {
                    if (one == null) continue;
                    series.add(series(one, figures.unit()));
                    measuredCurves++;
                }
            }
            if (measuredCurves == 0) continue;
            all.add(new Result.Percentiles(
                    figures.pair() + ": published and measured",
                    "User time with " + figures.threads() + (figures.threads() == 1 ? " thread." : " threads."),
                    figures.unit(),
                    series));
        }
        return all;
    }

    private static Result.Series series(PublishedData.Figures figures) {
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
