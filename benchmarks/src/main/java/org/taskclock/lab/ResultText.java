// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.taskclock.benchmarks.Table;
import org.taskclock.report.Result;

/** A result for people who read it on a terminal. */
final class ResultText {
    private static final String NOTHING = "-";

    private ResultText() {}

    /** Without the table of this title. */
    static String of(Result result, String shownAlready) {
        StringBuilder text = new StringBuilder();
        if (!result.complete()) text.append("\nInterrupted: not complete.\n");
        for (Result.Table table : result.tables()) {
            if (table.title().equals(shownAlready) || table.rows().isEmpty()) continue;
            text.append('\n').append(table.title()).append("\n\n").append(aligned(table));
            if (!table.text().isEmpty()) text.append('\n').append(table.text()).append('\n');
        }
        if (!result.findings().isEmpty()) text.append("\nFindings\n");
        for (Result.Finding finding : result.findings()) {
            text.append("\n- ")
                    .append(finding.claim())
                    .append(" (")
                    .append(finding.source())
                    .append("): ");
            text.append(finding.verdict())
                    .append(".\n  ")
                    .append(finding.text())
                    .append('\n');
        }
        return text.toString();
    }

    static String aligned(Result.Table table) {
        return filled(table).aligned();
    }

    static String markdown(Result.Table table) {
        return filled(table).markdown();
    }

    private static Table filled(Result.Table table) {
        List<String> headings = new ArrayList<>();
        for (Result.Column column : table.columns()) {
            headings.add(column.name() + (column.unit().isEmpty() ? "" : ", " + column.unit()));
        }
        Table filled = new Table(headings.toArray(String[]::new));
        for (List<Object> row : table.rows()) {
            List<String> cells = new ArrayList<>();
            for (Object cell : row) cells.add(cell(cell));
            filled.add(cells);
        }
        return filled;
    }

    /** Three digits at least, none that is not known. */
    static String cell(Object cell) {
        if (cell == null) return NOTHING;
        if (!(cell instanceof Number number)) return cell.toString();
        double value = number.doubleValue();
        double size = Math.abs(value);
        boolean whole = !(cell instanceof Double) && value == Math.rint(value);
        if (whole || size >= 100) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        return String.format(Locale.ROOT, size >= 10 ? "%.1f" : "%.2f", value);
    }
}
