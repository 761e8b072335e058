// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The start of a page: links to the results. If there are several results, also charts that compare them. */
record Overview(HtmlBuilder html, List<Result> results, List<String> names, WallClock clock) {
    void writeNavigation() {
        html.raw("<nav><ul>\n");
        for (int i = 0; i < results.size(); i++) {
            Result result = results.get(i);
            html.raw("<li><a href=\"#" + ReportPage.id(i) + "\" data-name=\"")
                    .text(names.get(i))
                    .raw("\">")
                    .text(ResultNames.heading(result, names.get(i)))
                    .raw("</a> <small>")
                    .text(details(result))
                    .raw("</small></li>\n");
        }
        html.raw("<li><a href=\"#machines\">Machines and methods</a></li>\n</ul></nav>\n");
    }

    private String details(Result result) {
        String jdks = result.jdks().stream().map(Result.Jdk::version).distinct().collect(Collectors.joining(", "));
        return Stream.of(
                        clock.period(result),
                        jdks.isEmpty() ? "" : "JDK " + jdks,
                        result.complete() ? "" : "interrupted")
                .filter(part -> !part.isEmpty())
                .collect(Collectors.joining(", "));
    }

    /** Writes the charts that show several results. */
    void writeComparison() {
        if (results.size() < 2) return;
        // The indexes of the results that have a chart, by the chart's title.
        Map<String, List<Integer>> bars = new LinkedHashMap<>();
        Map<String, List<Integer>> percentiles = new LinkedHashMap<>();
        for (int i = 0; i < results.size(); i++) {
            for (Result.Bars one : results.get(i).bars()) addIndex(bars, one.title(), i);
            for (Result.Percentiles one : results.get(i).percentiles()) addIndex(percentiles, one.title(), i);
        }
        bars.values().removeIf(indexes -> indexes.size() < 2);
        percentiles.values().removeIf(indexes -> indexes.size() < 2);
        if (bars.isEmpty() && percentiles.isEmpty()) return;
        html.raw("<section class=\"result\" id=\"compared\">\n<h2>Compared</h2>\n");
        bars.forEach(this::bars);
        percentiles.keySet().forEach(this::percentiles);
        html.raw("</section>\n");
    }

    private static void addIndex(Map<String, List<Integer>> indexesByTitle, String title, int index) {
        List<Integer> indexes = indexesByTitle.computeIfAbsent(title, t -> new ArrayList<>());
        if (!indexes.contains(index)) indexes.add(index);
    }

    /** Compares the bars of several results. Ratios are relative to the first result. */
    private void bars(String title, List<Integer> indexes) {
        List<Result.Column> columns = new ArrayList<>(List.of(ResultSection.column(""), ResultSection.column("")));
        Map<String, Result.Bar[]> byName = new LinkedHashMap<>();
        for (int k = 0; k < indexes.size(); k++) {
            Result.Bars bars = bars(indexes.get(k), title);
            columns.add(new Result.Column(names.get(indexes.get(k)), bars.unit()));
            for (Result.Bar bar : bars.items()) {
                if (bar.published()) continue;
                byName.computeIfAbsent(bar.name(), name -> new Result.Bar[indexes.size()])[k] = bar;
            }
        }
        // There is nothing to compare if no bar is in two results.
        if (byName.values().stream()
                .allMatch(values -> Stream.of(values).filter(Objects::nonNull).count() < 2)) return;
        for (int k = 1; k < indexes.size(); k++) {
            columns.add(ResultSection.column(names.get(indexes.get(k)) + " / " + names.get(indexes.get(0))));
        }
        BarScale scale = BarScale.of(byName.values().stream()
                .flatMap(Stream::of)
                .filter(Objects::nonNull)
                .toList());
        List<List<?>> rows = new ArrayList<>();
        byName.forEach((name, values) -> {
            List<Object> row = new ArrayList<>();
            row.add(name);
            row.add(scale.cell(Arrays.asList(values)));
            for (Result.Bar value : values) row.add(value == null ? null : value.value());
            for (int k = 1; k < values.length; k++) {
                boolean both = values[0] != null && values[k] != null;
                row.add(both ? NumberFormatter.ratio(values[k].value(), values[0].value()) : "");
            }
            rows.add(row);
        });
        html.raw("<section class=\"part bars\">\n").element("h3", title);
        for (int k = 0; k < indexes.size(); k++) {
            html.raw("<span class=\"bar-key " + BarScale.color(k) + "\"><i class=\"measured\"></i> ")
                    .text(names.get(indexes.get(k)))
                    .raw("</span>\n");
        }
        html.table(columns, rows).raw(scale.note()).raw("</section>\n");
    }

    private Result.Bars bars(int index, String title) {
        return results.get(index).bars().stream()
                .filter(bars -> Objects.equals(bars.title(), title))
                .findFirst()
                .orElseThrow();
    }

    private void percentiles(String title) {
        html.raw("<section class=\"part\">\n").element("h3", title);
        html.raw("<div class=\"drawing\" data-kind=\"comparePercentiles\" data-title=\"")
                .text(title);
        html.raw("\" role=\"group\" aria-label=\"").text(title).raw("\"></div>\n");
        html.raw("<p>For the values, see the tables of each result.</p></section>\n");
    }
}
