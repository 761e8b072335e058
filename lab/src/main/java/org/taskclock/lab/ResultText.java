// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.taskclock.benchmarks.TextTable;
import org.taskclock.report.MachineLoad;
import org.taskclock.report.Result;

/** Formats results as text for a terminal, or prints them for programs. */
final class ResultText {
    private static final String NOTHING = "-";

    private ResultText() {}

    /** Prints a result in UTF-8, which JSON requires, whatever the locale. */
    static void printJson(Result result) {
        byte[] text = (result.toJson() + "\n").getBytes(StandardCharsets.UTF_8);
        System.out.write(text, 0, text.length);
        System.out.flush();
    }

    /** Formats a result without the table with the given title, which has been printed live. */
    static String of(Result result, String liveTableTitle) {
        StringBuilder text = new StringBuilder();
        if (!result.complete()) text.append("\nInterrupted: the result is incomplete.\n");
        for (Result.Table table : result.tables()) {
            if (table.title().equals(liveTableTitle) || table.rows().isEmpty()) continue;
            text.append('\n').append(table.title()).append("\n\n").append(aligned(table));
            if (!table.text().isEmpty()) text.append('\n').append(table.text()).append('\n');
        }
        if (!result.findings().isEmpty()) text.append("\nFindings\n");
        String warning = MachineLoad.warning(result);
        if (!warning.isEmpty()) text.append('\n').append(warning).append('\n');
        for (Result.Finding finding : result.findings()) {
            text.append("\n- ")
                    .append(finding.claim())
                    .append(" (")
                    .append(finding.source())
                    .append("): ");
            text.append(verdict(finding, warning))
                    .append(".\n  ")
                    .append(finding.text())
                    .append('\n');
        }
        return text.toString();
    }

    static String aligned(Result.Table table) {
        return textTable(table).aligned();
    }

    static String markdown(Result.Table table) {
        return textTable(table).markdown();
    }

    /** Formats a table with its title and text. */
    static String table(Result.Table table) {
        return table.title() + "\n" + aligned(table) + table.text() + "\n";
    }

    private static TextTable textTable(Result.Table table) {
        List<String> headings = new ArrayList<>();
        for (Result.Column column : table.columns()) {
            headings.add(column.name() + (column.unit().isEmpty() ? "" : ", " + column.unit()));
        }
        TextTable text = new TextTable(headings.toArray(String[]::new));
        for (List<Object> row : table.rows()) {
            List<String> cells = new ArrayList<>();
            for (Object cell : row) cells.add(cell(cell));
            text.add(cells);
        }
        return text;
    }

    /** Formats a cell with about three significant digits. */
    static String cell(Object cell) {
        if (cell == null) return NOTHING;
        if (!(cell instanceof Number number)) return cell.toString();
        double value = number.doubleValue();
        double size = Math.abs(value);
        boolean whole = !(cell instanceof Double) && value == Math.rint(value);
        if (whole || size >= 100) return String.format(Locale.ROOT, "%,.0f", value);
        if (size > 0 && size < 0.1) return String.format(Locale.ROOT, "%.5f", value);
        return String.format(Locale.ROOT, size >= 10 ? "%.1f" : "%.2f", value);
    }

    /** @param warning see {@link MachineLoad#warning} */
    static String finding(Result.Finding finding, String warning) {
        return verdict(finding, warning).toUpperCase(Locale.ROOT) + ": \"" + finding.claim() + "\" (" + finding.source()
                + "): " + finding.text() + "\n";
    }

    private static String verdict(Result.Finding finding, String warning) {
        boolean measured = !ExperimentClaim.NOT_MEASURED.equals(finding.verdict());
        return finding.verdict() + (measured && !warning.isEmpty() ? " (" + MachineLoad.BUSY + ")" : "");
    }

    /** Returns whether a table of published figures also contains measured ones. */
    static boolean isMeasured(Result.Table table) {
        return table.rows().stream()
                .flatMap(row -> row.subList(Math.min(2, row.size()), row.size()).stream())
                .anyMatch(Objects::nonNull);
    }
}
