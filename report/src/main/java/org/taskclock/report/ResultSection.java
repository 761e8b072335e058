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
import org.taskclock.monitor.profile.FlameGraphPage;

/**
 * Renders one result. The script draws the charts; a table below each chart has the same values.
 *
 * @param scripts receives the result's scripts, for the policy of the page
 */
record ResultSection(HtmlBuilder html, Result result, int index, String name, WallClock clock, List<String> scripts) {
    /** The maximum number of rows in the table of a timeline. The table of a longer one has only means and peaks. */
    private static final int MAX_TIMELINE_ROWS = 200;

    /** More timelines than this are arranged in several columns. */
    private static final int MAX_TIMELINES_IN_ONE_COLUMN = 4;

    void write() throws IOException {
        html.raw("<section class=\"result\" id=\"" + ReportPage.id(index) + "\">\n")
                .element("h2", ResultNames.heading(result, name));
        html.element("p class=\"where\"", clock.period(result));
        if (isRecording()) timelines();
        for (Result.Bars bars : result.bars()) bars(bars);
        for (int i = 0; i < result.percentiles().size(); i++) {
            percentiles(i, result.percentiles().get(i));
        }
        if (!isRecording()) timelines();
        for (Result.FlameGraph graph : result.flameGraphs()) flameGraph(graph);
        for (Result.Table table : result.tables()) {
            part("results", table.title(), table.text());
            html.table(table.columns(), table.rows()).raw("</section>\n");
        }
        html.raw("</section>\n");
    }

    private boolean isRecording() {
        return RecordingResults.KIND.equals(result.kind());
    }

    private void bars(Result.Bars bars) {
        part("bars", bars.title(), bars.text());
        BarScale scale = BarScale.of(bars.items());
        // Ratios of ratios would be confusing.
        boolean isRatio =
                bars.unit() != null && (bars.unit().equals("x") || bars.unit().startsWith("%"));
        double lowest = bars.items().stream()
                .filter(bar -> !bar.published() && bar.value() > 0)
                .mapToDouble(Result.Bar::value)
                .min()
                .orElse(Double.NaN);
        List<List<Object>> rows = new ArrayList<>();
        for (Result.Bar bar : bars.items()) {
            rows.add(Arrays.asList(
                    bar.name(),
                    scale.cell(List.of(bar)),
                    bar.value(),
                    isRatio ? "" : NumberFormatter.ratio(bar.value(), lowest),
                    bar.low(),
                    bar.high(),
                    bar.published() ? "published" : "measured"));
        }
        List<Result.Column> columns = List.of(
                column(""),
                column(""),
                new Result.Column("value", bars.unit()),
                column("relative to lowest"),
                new Result.Column("low", bars.unit()),
                new Result.Column("high", bars.unit()),
                column("origin"));
        html.table(columns, rows).raw(scale.note()).raw("</section>\n");
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
        html.raw("<div class=\"drawing\" data-kind=\"" + kind + "\" data-result=\"" + index + "\" data-index=\"" + i
                        + "\" role=\"group\" aria-label=\"")
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
