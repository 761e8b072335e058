// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.taskclock.benchmarks.Table;
import org.taskclock.report.Result;

/** A result for people who have but a terminal. */
final class Text {
    private Text() {}

    static String table(Result.Table table) {
        Table aligned = new Table(table.columns().stream()
                .map(column -> column.unit().isEmpty() ? column.name() : column.name() + ", " + column.unit())
                .toArray(String[]::new));
        for (List<Object> row : table.rows()) {
            List<String> cells = new ArrayList<>();
            for (int i = 0; i < row.size(); i++) {
                cells.add(cell(row.get(i), table.columns().get(i).unit()));
            }
            aligned.add(cells);
        }
        return table.title() + "\n" + aligned.aligned() + table.text() + "\n";
    }

    private static String cell(Object value, String unit) {
        if (value == null) return "";
        if (value instanceof Number number) return number(number.doubleValue(), unit);
        return value.toString();
    }

    /** With as many digits as tell something. */
    private static String number(double value, String unit) {
        double size = Math.abs(value);
        if (unit.equals("x")) return String.format(Locale.ROOT, size < 10 ? "%.2f" : "%,.0f", value);
        if (unit.equals("ns")) return String.format(Locale.ROOT, size < 100 ? "%.1f" : "%,.0f", value);
        return String.format(Locale.ROOT, size < 0.1 ? "%.5f" : "%,.3f", value);
    }

    static String finding(Result.Finding finding) {
        String verdict = finding.text().contains(Claims.UNTOLD) ? "cannot be told" : finding.verdict();
        return verdict.toUpperCase(Locale.ROOT) + ": \"" + finding.claim() + "\" (" + finding.source() + "): "
                + finding.text() + "\n";
    }

    /** Whether a table of published figures has anything beside them. */
    static boolean isMeasured(Result.Table table) {
        return table.rows().stream()
                .flatMap(row -> row.subList(Math.min(2, row.size()), row.size()).stream())
                .anyMatch(Objects::nonNull);
    }
}
