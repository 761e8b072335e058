// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.taskclock.report.Result;

/** Collects the parts of a result. Omits NaN and infinite values, which JSON cannot represent. */
final class ResultBuilder {
    final List<String> method = new ArrayList<>();
    final List<Result.Finding> findings = new ArrayList<>();
    final List<Result.Table> tables = new ArrayList<>();
    final List<Result.Bars> bars = new ArrayList<>();
    final List<Result.Timeline> timelines = new ArrayList<>();

    Result result(
            String name,
            String started,
            String ended,
            boolean complete,
            List<String> command,
            Map<String, String> machine,
            List<Result.Load> load,
            List<Jdk> homes) {
        List<Result.Jdk> jdks = new ArrayList<>();
        for (Jdk home : homes) jdks.add(new Result.Jdk(home.version(), home.vendor(), List.of()));
        return new Result(
                Result.FORMAT,
                "experiment",
                name,
                started,
                ended,
                complete,
                command,
                machine,
                load,
                jdks,
                method,
                findings,
                tables.stream().map(ResultBuilder::finite).toList(),
                bars.stream().map(ResultBuilder::finite).toList(),
                List.of(),
                timelines,
                Map.of(),
                List.of(),
                Map.of());
    }

    private static Result.Table finite(Result.Table table) {
        List<List<Object>> rows = new ArrayList<>();
        for (List<Object> row : table.rows()) {
            List<Object> cells = new ArrayList<>(row);
            cells.replaceAll(cell -> cell instanceof Double value && !Double.isFinite(value) ? null : cell);
            rows.add(cells);
        }
        return new Result.Table(table.title(), table.text(), table.columns(), rows);
    }

    private static Result.Bars finite(Result.Bars bars) {
        List<Result.Bar> items = bars.items().stream()
                .filter(bar -> Double.isFinite(bar.value()))
                .toList();
        return new Result.Bars(bars.title(), bars.text(), bars.unit(), items);
    }
}
