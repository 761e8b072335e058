// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.history.RowConsumer;

/** Formats the result of a query. */
final class QueryOutput implements RowConsumer {
    private static final Gson GSON =
            new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    private final QueryCommand.Format format;
    private final List<String> names = new ArrayList<>();
    private final List<List<Object>> rows = new ArrayList<>();

    QueryOutput(QueryCommand.Format format) {
        this.format = format;
    }

    @Override
    public void columns(List<String> columns) {
        names.addAll(columns);
    }

    @Override
    public void row(List<Object> values) {
        rows.add(values);
    }

    String text() {
        return switch (format) {
            case TABLE -> table();
            case CSV -> csv();
            case JSON -> json();
            case MARKDOWN -> markdown();
        };
    }

    private String table() {
        int[] widths = new int[names.size()];
        for (int i = 0; i < widths.length; i++) {
            widths[i] = CellFormat.width(CellFormat.sanitize(names.get(i)));
            for (List<Object> row : rows) widths[i] = Math.max(widths[i], CellFormat.width(cell(row.get(i))));
        }
        StringBuilder text = new StringBuilder();
        appendLine(text, new ArrayList<>(names), widths);
        for (List<Object> row : rows) appendLine(text, row, widths);
        return text.toString();
    }

    private void appendLine(StringBuilder text, List<Object> row, int... widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            if (i > 0) line.append("  ");
            String cell = cell(row.get(i));
            line.append(isNumber(i) ? CellFormat.padLeft(cell, widths[i]) : CellFormat.padRight(cell, widths[i]));
        }
        text.append(line.toString().stripTrailing()).append('\n');
    }

    private boolean isNumber(int column) {
        return !rows.isEmpty()
                && rows.stream().allMatch(row -> row.get(column) == null || row.get(column) instanceof Number);
    }

    /** Returns a value without control characters, which the name of a thread may contain. */
    private static String cell(Object value) {
        return value == null ? "-" : CellFormat.sanitize(value.toString());
    }

    private String csv() {
        StringBuilder text = new StringBuilder();
        appendCsv(text, names);
        for (List<Object> row : rows) appendCsv(text, row);
        return text.toString();
    }

    private static void appendCsv(StringBuilder text, List<?> row) {
        for (int i = 0; i < row.size(); i++) {
            if (i > 0) text.append(',');
            String value = row.get(i) == null ? "" : row.get(i).toString();
            boolean isQuoted = value.chars().anyMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
            text.append(isQuoted ? '"' + value.replace("\"", "\"\"") + '"' : value);
        }
        text.append('\n');
    }

    private String json() {
        List<Map<String, Object>> objects = new ArrayList<>();
        for (List<Object> row : rows) {
            Map<String, Object> object = new LinkedHashMap<>();
            for (int i = 0; i < names.size(); i++) object.put(names.get(i), row.get(i));
            objects.add(object);
        }
        return GSON.toJson(objects) + "\n";
    }

    private String markdown() {
        StringBuilder text = new StringBuilder();
        appendMarkdown(text, new ArrayList<>(names));
        List<Object> line = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) line.add(isNumber(i) ? "---:" : "---");
        appendMarkdown(text, line);
        for (List<Object> row : rows) appendMarkdown(text, row);
        return text.toString();
    }

    private static void appendMarkdown(StringBuilder text, List<Object> row) {
        text.append('|');
        for (Object value : row) {
            String cell = cell(value).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;");
            text.append(' ').append(cell).append(" |");
        }
        text.append('\n');
    }
}
