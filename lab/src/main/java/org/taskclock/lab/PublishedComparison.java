// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.taskclock.report.Result;

/** Tables and curves that compare the measurements with every published figure. */
final class PublishedComparison {
    private static final String NO_UNIT = "";

    private final PublishedData published;
    private final Measurements measured;
    private final Map<String, Long> steps;

    /**
     * Creates the comparison of one run.
     *
     * @param steps smallest steps in ns by {@link #stepKey}
     */
    PublishedComparison(PublishedData published, Measurements measured, Map<String, Long> steps) {
        this.published = published;
        this.measured = measured;
        this.steps = steps;
    }

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

    private static Result.Column column(String name, String unit) {
        return new Result.Column(name, unit);
    }

    /** Returns the cost of one reading on one thread. */
    private Result.Table costs(String jdk) {
        Measurement empty = measured.average(jdk, Contender.NOTHING);
        List<List<Object>> rows = new ArrayList<>();
        for (Contender contender : Contender.values()) {
            List<String> backends = measured.all().stream()
                    .filter(one -> one.jdk().equals(jdk) && one.contender() == contender)
                    .map(Measurement::backend)
                    .distinct()
                    .toList();
            for (String backend : backends) {
                Measurement sampled = find(jdk, contender, backend, true);
                Measurement average = find(jdk, contender, backend, false);
                if (sampled == null && average == null) continue;
                Double net = average == null || empty == null || contender == Contender.NOTHING
                        ? null
                        : average.mean() - empty.mean();
                rows.add(Arrays.asList(
                        contender.text,
                        contender.isOurs() || contender.isUnderAgent() ? backend : "-",
                        steps.get(stepKey(jdk, contender, backend)),
                        sampled == null ? null : sampled.mean(),
                        sampled == null ? null : sampled.row("p0.50"),
                        sampled == null ? null : sampled.row("p0.99"),
                        average == null ? null : average.mean(),
                        net));
            }
        }
        return new Result.Table(
                "One reading on one thread, JDK " + jdk,
                "SampleTime times single readings with System.nanoTime and includes its cost and step, so it says "
                        + "little about readings below 100 ns. AverageTime times many readings together. Minus the "
                        + "empty method, it is the cost of a reading for a thread that reads often. The smallest step "
                        + "is that between two consecutive readings.",
                List.of(
                        column("reader", ""),
                        column("backend", ""),
                        column("smallest step", "ns"),
                        column("SampleTime mean", "ns"),
                        column("p0.50", "ns"),
                        column("p0.99", "ns"),
                        column("AverageTime", "ns"),
                        column("minus empty", "ns")),
                rows);
    }

    private Measurement find(String jdk, Contender contender, String backend, boolean sampled) {
        return measured.all().stream()
                .filter(one -> one.jdk().equals(jdk)
                        && one.contender() == contender
                        && one.backend().equals(backend)
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

    private Measurement measured(PublishedData.Figures figures, String jdk) {
        return measured.sampled(jdk, figures.contender(measured.version(jdk)), figures.threads());
    }

    private Result.Table comparison(PublishedData.Figures figures) {
        double nanos = Measurement.nanos(figures.unit());
        List<Result.Column> columns =
                new ArrayList<>(List.of(column("row", NO_UNIT), column("published", figures.unit())));
        List<String> readers = new ArrayList<>();
        for (String jdk : measured.jdks()) {
            columns.add(column("JDK " + jdk, figures.unit()));
            columns.add(column("ratio", "x"));
            columns.add(column("TaskClock", figures.unit()));
            Measurement ours = measured.sampled(jdk, Contender.TASKCLOCK_USER, figures.threads());
            String reader = figures.contender(measured.version(jdk)).text;
            readers.add(
                    "JDK " + jdk + ": " + reader + (ours == null ? "" : ", TaskClock.userNanos on " + ours.backend()));
        }
        List<List<Object>> rows = new ArrayList<>();
        for (String row : rows()) {
            Double value = figures.value(row);
            List<Object> cells = new ArrayList<>(
                    Arrays.asList(row, value == null ? figures.rows().get(row).getAsString() : (Object) value));
            for (String jdk : measured.jdks()) {
                Measurement same = measured(figures, jdk);
                Measurement ours = measured.sampled(jdk, Contender.TASKCLOCK_USER, figures.threads());
                cells.add(same == null ? null : (Object) (same.row(row) / nanos));
                cells.add(same == null || value == null ? null : (Object) (same.row(row) / nanos / value));
                cells.add(ours == null ? null : (Object) (ours.row(row) / nanos));
            }
            rows.add(cells);
        }
        PublishedData.Source source = published.source(figures.source());
        return new Result.Table(
                figures.pair() + ": " + figures.title(),
                "Published: " + source.title() + "; " + source.machine() + ". Ratio: measured / published. "
                        + String.join("; ", readers) + ".",
                columns,
                rows);
    }

    /** Divides the first table of a pair by the second. */
    private Result.Table improvement(PublishedData.Figures before, PublishedData.Figures after) {
        List<Result.Column> columns = new ArrayList<>(List.of(column("row", NO_UNIT), column("published", "x")));
        for (String jdk : measured.jdks()) columns.add(column("JDK " + jdk, "x"));
        List<List<Object>> rows = new ArrayList<>();
        for (String row : rows()) {
            Double first = before.value(row);
            Double second = after.value(row);
            List<Object> cells = new ArrayList<>(
                    Arrays.asList(row, first == null || second == null ? null : (Object) (first / second)));
            for (String jdk : measured.jdks()) {
                Measurement firstMeasured = measured(before, jdk);
                Measurement secondMeasured = measured(after, jdk);
                boolean both = firstMeasured != null && secondMeasured != null;
                cells.add(both ? (Object) (firstMeasured.row(row) / secondMeasured.row(row)) : null);
            }
            rows.add(cells);
        }
        return new Result.Table(
                before.pair() + ": improvement",
                "\"" + before.title() + "\" divided by \"" + after.title() + "\".",
                columns,
                rows);
    }

    private Result.Table threads(String jdk) {
        List<Result.Column> columns = new ArrayList<>(List.of(column("reader", NO_UNIT), column("figure", NO_UNIT)));
        for (int threads : measured.sampledThreads()) columns.add(column(Integer.toString(threads), "ns"));
        List<List<Object>> rows = new ArrayList<>();
        for (Contender contender : Contender.values()) {
            for (String row : List.of("mean", "p0.50", "p0.99")) {
                List<Object> cells = new ArrayList<>(List.of(contender.text, row));
                int found = 0;
                for (int threads : measured.sampledThreads()) {
                    Measurement measurement = measured.sampled(jdk, contender, threads);
                    if (measurement != null) found++;
                    cells.add(measurement == null ? null : (Object) measurement.row(row));
                }
                if (found > 1) rows.add(cells);
            }
        }
        return new Result.Table(
                "By number of threads, JDK " + jdk,
                "SampleTime. With more threads than processors, the mean includes readings during which another "
                        + "thread ran.",
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
