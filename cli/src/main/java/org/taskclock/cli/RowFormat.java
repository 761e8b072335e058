// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.StringWriter;
import java.util.List;
import java.util.Locale;
import org.taskclock.watch.Frame;
import org.taskclock.watch.Row;

/** Rows for programs: one JSON object a line, so that a stream that is cut is still valid, and CSV as RFC 4180 has it. */
final class RowFormat {
    private static final List<String> FIELDS = List.of(
            "time",
            "pid",
            "tid",
            "javaId",
            "name",
            "kind",
            "pool",
            "cpuPercent",
            "userPercent",
            "systemPercent",
            "waitPercent",
            "voluntary",
            "involuntary");

    private RowFormat() {}

    static String json(Frame frame, List<Row> rows) throws IOException {
        StringWriter text = new StringWriter();
        for (Row row : rows) {
            // A new one for each line: a writer of documents takes one.
            @SuppressWarnings("resource")
            JsonWriter to = new JsonWriter(text);
            to.beginObject();
            List<Object> values = values(frame, row);
            for (int i = 0; i < values.size(); i++) {
                to.name(FIELDS.get(i));
                if (values.get(i) instanceof Number number) to.value(number);
                else to.value((String) values.get(i));
            }
            to.endObject();
            text.append('\n');
        }
        return text.toString();
    }

    static String csvHeader() {
        return String.join(",", FIELDS) + "\r\n";
    }

    static String csv(Frame frame, List<Row> rows) {
        StringBuilder text = new StringBuilder();
        for (Row row : rows) {
            String comma = "";
            for (Object value : values(frame, row)) {
                text.append(comma).append(value instanceof String word ? quoted(word) : value);
                comma = ",";
            }
            text.append("\r\n");
        }
        return text.toString();
    }

    private static List<Object> values(Frame frame, Row row) {
        return List.of(
                frame.end().toString(),
                row.pid(),
                row.tid(),
                row.javaId(),
                row.name(),
                row.kind().name().toLowerCase(Locale.ROOT),
                row.pool(),
                percent(frame, row.cpuNanos()),
                percent(frame, row.userNanos()),
                percent(frame, row.systemNanos()),
                percent(frame, row.waitNanos()),
                row.voluntary(),
                row.involuntary());
    }

    private static double percent(Frame frame, long nanos) {
        return Math.round(frame.percent(nanos) * 1_000) / 1_000.0;
    }

    private static String quoted(String word) {
        if (word.chars().noneMatch(c -> c == '"' || c == ',' || c == '\n' || c == '\r')) return word;
        return '"' + word.replace("\"", "\"\"") + '"';
    }
}
