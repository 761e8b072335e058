// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Renders one result. The script draws the charts; a table below each chart has the same values. */
final class ResultSection {
    /** The maximum number of rows in the table of a timeline. The table of a longer one has only means and peaks. */
    private static final int MAX_TIMELINE_ROWS = 200;

    /** More timelines than this are arranged in several columns. */
    private static final int MAX_TIMELINES_IN_ONE_COLUMN = 4;

    private static final List<Result.Column> HEATMAP_COLUMNS = List.of(
            column("thread"),
            column("tid"),
            new Result.Column("mean", "% of a core"),
            new Result.Column("system", "% of cpu"),
            new Result.Column("highest column", "% of a core"),
            column("at"));

    private final HtmlBuilder html;
    private final Result result;
    private final int index;
    private final String name;
    private final WallClock clock;
    private final List<String> scripts;

    /** @param scripts receives the result's scripts, for the policy of the page */
    ResultSection(HtmlBuilder html, Result result, int index, String name, WallClock clock, List<String> scripts) {
        this.html = html;
        this.result = result;
        this.index = index;
        this.name = name;
        this.clock = clock;
        this.scripts = scripts;
    }

    void write() throws IOException {
        html.raw("<section class=\"result\" id=\"" + ReportPage.id(index) + "\">\n")
                .element("h2", ResultNames.heading(result, name));
        html.element("p class=\"when\"", clock.period(result));
        if (isRecording()) timelines();
        for (int i = 0; i < result.bars().size(); i++) bars(i, result.bars().get(i));
        for (int i = 0; i < result.percentiles().size(); i++) {
            percentiles(i, result.percentiles().get(i));
        }
        if (!isRecording()) timelines();
        if (!isRecording()) heatmaps();
        for (Result.FlameGraph graph : result.flameGraphs()) flameGraph(graph);
        for (Result.Table table : result.tables()) {
            part("table", table.title(), table.text());
            html.table(table.columns(), table.rows()).raw("</section>\n");
        }
        html.raw("</section>\n");
    }

    private boolean isRecording() {
        return RecordingResults.KIND.equals(result.kind());
    }

    private void bars(int i, Result.Bars bars) {
        part("bars", bars.title(), bars.text());
        chart("bars", i, bars.title());
        values(BarTable.columns(bars.unit()), BarTable.rows(bars.unit(), bars.items()));
        html.raw("</section>\n");
    }

    /** The table of a bar chart, from which the chart takes its ratios. */
    private static final class BarTable {
        private BarTable() {}

        static List<Result.Column> columns(String unit) {
            return List.of(
                    column(""),
                    new Result.Column("value", unit),
                    new Result.Column("low", unit),
                    new Result.Column("high", unit),
                    column("relative to lowest"),
                    column("origin"));
        }

        static List<List<?>> rows(String unit, List<Result.Bar> bars) {
            // Ratios of ratios would be confusing.
            boolean isRatio = unit != null && (unit.equals("x") || unit.startsWith("%"));
            double lowest = bars.stream()
                    .filter(bar -> !bar.published() && bar.value() > 0)
                    .mapToDouble(Result.Bar::value)
                    .min()
                    .orElse(Double.NaN);
            List<List<?>> rows = new ArrayList<>();
            for (Result.Bar bar : bars) {
                List<Object> row = new ArrayList<>();
                row.add(bar.name());
                row.add(bar.value());
                row.add(bar.low());
                row.add(bar.high());
                row.add(isRatio ? "" : NumberFormatter.ratio(bar.value(), lowest));
                row.add(bar.published() ? "published" : "measured");
                rows.add(row);
            }
            return rows;
        }
    }

    private void percentiles(int i, Result.Percentiles percentiles) {
        part("percentiles", percentiles.title(), percentiles.text());
        chart("percentiles", i, percentiles.title());
        values(
                columns(new Result.Column("percentile", "%"), percentiles.series(), percentiles.unit()),
                rowsByX(percentiles.series()));
        html.raw("</section>\n");
    }

    private void timelines() {
        boolean many = result.timelines().size() > MAX_TIMELINES_IN_ONE_COLUMN;
        if (many) html.raw("<div class=\"many\">\n");
        for (int i = 0; i < result.timelines().size(); i++) {
            Result.Timeline timeline = result.timelines().get(i);
            part("timeline", timeline.title(), timeline.text());
            chart("timelines", i, timeline.title());
            List<List<Object>> rows = rowsByX(timeline.series());
            if (rows.size() <= MAX_TIMELINE_ROWS) {
                Instant start = isRecording() ? WallClock.parse(result.started()) : null;
                if (start != null) rows.forEach(row -> setTime(row, start));
                Result.Column time = new Result.Column("time", start == null ? "s" : clock.zone());
                values(columns(time, timeline.series(), timeline.unit()), rows);
            } else {
                List<Result.Column> columns = List.of(
                        column("series"),
                        new Result.Column("mean of points", timeline.unit()),
                        new Result.Column("peak", timeline.unit()));
                values(columns, summaries(timeline.series()));
            }
            html.raw("</section>\n");
            // All CPU time first, then by thread.
            if (i == 0 && isRecording()) heatmaps();
        }
        if (many) html.raw("</div>\n");
    }

    /** Replaces the seconds since the start with the time of day. */
    private void setTime(List<Object> row, Instant start) {
        row.set(0, time(start, (Double) row.get(0)));
    }

    private String time(Instant start, double seconds) {
        Instant end = WallClock.parse(result.ended());
        Instant time = start.plusMillis(Math.round(seconds * 1000));
        return clock.timeWithin(start, end == null ? start : end, time);
    }

    private void heatmaps() {
        for (int i = 0; i < result.heatmaps().size(); i++)
            heatmap(i, result.heatmaps().get(i));
    }

    private void heatmap(int i, Result.Heatmap heatmap) {
        part("heatmap", heatmap.title(), heatmap.text());
        chart("heatmaps", i, heatmap.title());
        values(
                HEATMAP_COLUMNS,
                heatmap.rows().stream().map(row -> summary(heatmap, row)).toList());
        html.raw("</section>\n");
    }

    private List<Object> summary(Result.Heatmap heatmap, Result.HeatmapRow row) {
        double cpu = 0;
        double user = 0;
        int recorded = 0;
        int peak = -1;
        boolean userKnown = true;
        for (int i = 0; i < row.cpu().size(); i++) {
            if (row.cpu().get(i) < 0) continue;
            recorded++;
            cpu += row.cpu().get(i);
            user += Math.max(row.user().get(i), 0);
            userKnown &= row.user().get(i) >= 0;
            if (peak < 0 || row.cpu().get(i) > row.cpu().get(peak)) peak = i;
        }
        Instant start = WallClock.parse(result.started());
        Object at = peak < 0 ? null : heatmap.start() + peak * heatmap.step();
        if (at instanceof Double seconds && start != null) at = time(start, seconds);
        return Arrays.asList(
                row.name(),
                row.tid() == 0 ? null : row.tid(),
                recorded == 0 ? null : tenths(cpu / recorded),
                cpu == 0 || !userKnown ? null : tenths(100 * (cpu - user) / cpu),
                peak < 0 ? null : tenths(row.cpu().get(peak)),
                at);
    }

    private static double tenths(double value) {
        return Math.round(value * 10) / 10.0;
    }

    private void flameGraph(Result.FlameGraph graph) throws IOException {
        part("flame", graph.title(), graph.text());
        FlameGraphPage page = FlameGraphPage.of(graph.collapsed());
        if (page.html().isEmpty()) {
            html.element("p", "No stacks were sampled.");
        } else {
            scripts.addAll(page.scripts());
            // There is no sandbox attribute, because it would move the page to another process, where the script runs
            // before the layout. The policy applies to the page in any case.
            html.raw("<iframe loading=\"lazy\" title=\"")
                    .text(graph.title())
                    .raw("\" srcdoc=\"")
                    .page(page.html())
                    .raw("\"></iframe>\n");
            html.raw("<details><summary>Frames with the most samples</summary>\n")
                    .table(TopFrames.COLUMNS, TopFrames.of(graph.collapsed()))
                    .raw("</details>\n");
        }
        html.raw("</section>\n");
    }

    private void part(String kind, String title, String text) {
        html.raw("<section class=\"part " + kind + "\">\n").element("h3", title).paragraphs(text);
    }

    private void chart(String kind, int i, String title) {
        html.raw("<div class=\"chart\" data-kind=\"" + kind + "\" data-result=\"" + index + "\" data-index=\"" + i
                        + "\" role=\"img\" aria-label=\"")
                .text(title + ": see the table below for the values")
                .raw("\"></div>\n");
    }

    private void values(List<Result.Column> columns, List<? extends List<?>> rows) {
        html.raw("<details><summary>Values</summary>\n").table(columns, rows).raw("</details>\n");
    }

    static Result.Column column(String name) {
        return new Result.Column(name, "");
    }

    private static List<Result.Column> columns(Result.Column first, List<Result.Series> series, String unit) {
        List<Result.Column> columns = new ArrayList<>(List.of(first));
        for (Result.Series one : series) {
            columns.add(new Result.Column(one.name() + (one.published() ? " (published)" : ""), unit));
        }
        return columns;
    }

    /** Returns a row for each x value and a column for each series. */
    private static List<List<Object>> rowsByX(List<Result.Series> series) {
        Map<Double, Object[]> rows = new TreeMap<>();
        for (int i = 0; i < series.size(); i++) {
            for (double[] point : series.get(i).points()) {
                Object[] row = rows.computeIfAbsent(point[0], x -> {
                    Object[] cells = new Object[series.size() + 1];
                    cells[0] = x;
                    return cells;
                });
                row[i + 1] = point[1];
            }
        }
        List<List<Object>> table = new ArrayList<>();
        for (Object[] row : rows.values()) table.add(Arrays.asList(row));
        return table;
    }

    private static List<List<?>> summaries(List<Result.Series> series) {
        List<List<?>> rows = new ArrayList<>();
        for (Result.Series one : series) {
            var values = one.points().stream().mapToDouble(point -> point[1]).summaryStatistics();
            rows.add(List.of(one.name(), values.getAverage(), values.getCount() == 0 ? 0.0 : values.getMax()));
        }
        return rows;
    }
}
