// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The start of a page: links to the results and, if there are several results, a comparison. */
final class Overview {
    private final HtmlBuilder html;
    private final List<Result> results;

    Overview(HtmlBuilder html, List<Result> results) {
        this.html = html;
        this.results = results;
    }

    void write() {
        html.raw("<nav><ul>\n");
        for (int i = 0; i < results.size(); i++) {
            Result result = results.get(i);
            String label = ReportPage.label(i);
            html.raw("<li><a href=\"#" + label + "\"><span class=\"label\">" + label + "</span> ")
                    .text(ReportPage.title(result))
                    .raw("</a> <small>")
                    .text(result.started() + jdks(result) + (result.complete() ? "" : ", interrupted"))
                    .raw("</small></li>\n");
        }
        html.raw("</ul></nav>\n");
        if (results.size() > 1) compare();
    }

    private static String jdks(Result result) {
        if (result.jdks().isEmpty()) return "";
        return ", JDK "
                + result.jdks().stream().map(Result.Jdk::version).distinct().collect(Collectors.joining(", "));
    }

    private void compare() {
        html.raw("<section class=\"result\" id=\"compared\">\n<h2>Compared</h2>\n");
        machines();
        // The indexes of the results that have a chart, by the chart's title.
        Map<String, List<Integer>> bars = new LinkedHashMap<>();
        Map<String, List<Integer>> percentiles = new LinkedHashMap<>();
        for (int i = 0; i < results.size(); i++) {
            for (Result.Bars one : results.get(i).bars()) addIndex(bars, one.title(), i);
            for (Result.Percentiles one : results.get(i).percentiles()) addIndex(percentiles, one.title(), i);
        }
        bars.forEach((title, indexes) -> {
            if (indexes.size() > 1) bars(title, indexes);
        });
        percentiles.forEach((title, indexes) -> {
            if (indexes.size() > 1) percentiles(title);
        });
        html.raw("</section>\n");
    }

    private static void addIndex(Map<String, List<Integer>> indexesByTitle, String title, int index) {
        List<Integer> indexes = indexesByTitle.computeIfAbsent(title, t -> new ArrayList<>());
        if (!indexes.contains(index)) indexes.add(index);
    }

    private void machines() {
        Set<String> properties = new LinkedHashSet<>();
        for (Result result : results) properties.addAll(result.machine().keySet());
        html.raw("<section class=\"part\">\n<h3>Machines</h3>\n<div class=\"scroll\"><table>\n<thead><tr><th></th>");
        for (int i = 0; i < results.size(); i++) html.raw("<th>" + ReportPage.label(i) + "</th>");
        html.raw("</tr></thead>\n<tbody>\n");
        for (String property : properties) {
            List<String> values =
                    results.stream().map(r -> r.machine().get(property)).collect(Collectors.toList());
            boolean differ = values.stream().anyMatch(value -> !Objects.equals(value, values.get(0)));
            html.raw(differ ? "<tr class=\"differ\">" : "<tr>")
                    .raw("<td>")
                    .text(property)
                    .raw("</td>");
            for (String value : values) html.raw("<td>").text(value).raw("</td>");
            html.raw("</tr>\n");
        }
        html.raw("</tbody></table></div></section>\n");
    }

    /** Compares the bars of several results. Ratios are relative to the first result. */
    private void bars(String title, List<Integer> indexes) {
        List<Result.Column> columns = new ArrayList<>(List.of(ResultSection.column("")));
        Map<String, Double[]> byName = new LinkedHashMap<>();
        for (int k = 0; k < indexes.size(); k++) {
            Result.Bars bars = bars(indexes.get(k), title);
            columns.add(new Result.Column(ReportPage.label(indexes.get(k)), bars.unit()));
            for (Result.Bar bar : bars.items()) {
                if (bar.published()) continue;
                byName.computeIfAbsent(bar.name(), name -> new Double[indexes.size()])[k] = bar.value();
            }
        }
        // There is nothing to compare if no bar is in two results.
        if (byName.values().stream()
                .allMatch(values -> Stream.of(values).filter(Objects::nonNull).count() < 2)) return;
        for (int k = 1; k < indexes.size(); k++) {
            columns.add(
                    ResultSection.column(ReportPage.label(indexes.get(k)) + " / " + ReportPage.label(indexes.get(0))));
        }
        List<List<?>> rows = new ArrayList<>();
        byName.forEach((name, values) -> {
            List<Object> row = new ArrayList<>();
            row.add(name);
            for (Double value : values) row.add(value);
            for (int k = 1; k < values.length; k++) {
                boolean both = values[0] != null && values[k] != null;
                row.add(both ? NumberFormatter.ratio(values[k], values[0]) : "");
            }
            rows.add(row);
        });
        chart("compareBars", title);
        html.raw("<details open><summary>Values</summary>\n")
                .table(columns, rows)
                .raw("</details></section>\n");
    }

    private Result.Bars bars(int index, String title) {
        return results.get(index).bars().stream()
                .filter(bars -> Objects.equals(bars.title(), title))
                .findFirst()
                .orElseThrow();
    }

    private void percentiles(String title) {
        chart("comparePercentiles", title);
        html.raw("<p>For the values, see the tables of each result.</p></section>\n");
    }

    private void chart(String kind, String title) {
        html.raw("<section class=\"part\">\n").element("h3", title);
        html.raw("<div class=\"chart\" data-kind=\"" + kind + "\" data-title=\"")
                .text(title);
        html.raw("\" role=\"img\" aria-label=\"").text(title).raw("\"></div>\n");
    }
}
