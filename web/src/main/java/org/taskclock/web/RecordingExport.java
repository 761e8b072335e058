// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.taskclock.history.ExportBy;
import org.taskclock.history.ExportFormat;
import org.taskclock.history.ParquetExport;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ThreadUsage;

/** Writes the intervals of a recording as rows, one for each thread, pool, or account that used CPU time. */
final class RecordingExport {
    private record Key(int tid, String name, String pool, ThreadKind kind) {}

    private RecordingExport() {}

    static void write(Iterable<Interval> recording, ExportBy by, ExportFormat format, OutputStream out)
            throws IOException {
        if (format == ExportFormat.PARQUET) {
            writeParquet(recording, by, out);
            return;
        }
        Writer writer = new OutputStreamWriter(out, StandardCharsets.UTF_8);
        if (format == ExportFormat.CSV) writeCsv(recording, by, writer);
        else writeJson(recording, by, writer);
        writer.flush();
    }

    /** Returns the names of the columns, and their types in DuckDB. */
    private static Map<String, String> columns(ExportBy by) {
        Map<String, String> columns = new LinkedHashMap<>();
        columns.put("time", "TIMESTAMPTZ");
        columns.put("interval_nanos", "BIGINT");
        if (by == ExportBy.THREAD) {
            columns.put("tid", "INTEGER");
            columns.put("thread", "VARCHAR");
        }
        columns.put(by == ExportBy.ACCOUNT ? "type" : "pool", "VARCHAR");
        columns.put(by == ExportBy.ACCOUNT ? "account" : "kind", "VARCHAR");
        columns.put("user_nanos", "BIGINT");
        columns.put("system_nanos", "BIGINT");
        return columns;
    }

    private static void writeParquet(Iterable<Interval> recording, ExportBy by, OutputStream out) throws IOException {
        Path file = Files.createTempFile("taskclock-export", ".csv");
        try {
            try (Writer csv = Files.newBufferedWriter(file)) {
                writeCsv(recording, by, csv);
            }
            ParquetExport.write(file, columns(by), out);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    /** Returns the values of the columns for each row of an interval. */
    private static List<List<Object>> rows(Interval interval, ExportBy by) {
        Map<Key, long[]> sums = new LinkedHashMap<>();
        for (ThreadUsage usage : by == ExportBy.ACCOUNT ? interval.accounts() : interval.threads()) {
            if (usage.cpuNanos() <= 0) continue;
            Key key = by == ExportBy.THREAD
                    ? new Key(usage.tid(), usage.name(), usage.pool(), usage.kind())
                    : new Key(0, usage.pool(), usage.pool(), usage.kind());
            long[] sum = sums.computeIfAbsent(key, k -> new long[2]);
            sum[0] += Math.max(0, usage.userNanos());
            sum[1] += Math.max(0, usage.systemNanos());
        }
        List<List<Object>> rows = new ArrayList<>();
        sums.forEach((key, sum) -> {
            List<Object> row = new ArrayList<>(List.of(interval.end().toString(), interval.intervalNanos()));
            if (by == ExportBy.THREAD) row.addAll(List.of(key.tid, key.name));
            AccountKey account = AccountKey.parse(key.pool);
            row.addAll(
                    by == ExportBy.ACCOUNT
                            ? List.of(account.type(), account.name())
                            : List.of(key.pool, key.kind.label()));
            row.addAll(List.of(sum[0], sum[1]));
            rows.add(row);
        });
        return rows;
    }

    private static void writeCsv(Iterable<Interval> recording, ExportBy by, Writer out) throws IOException {
        out.write(String.join(",", columns(by).keySet()) + "\r\n");
        for (Interval interval : recording)
            for (List<Object> row : rows(interval, by))
                out.write(row.stream().map(RecordingExport::quoted).collect(Collectors.joining(",")) + "\r\n");
    }

    private static String quoted(Object value) {
        String text = value.toString();
        if (text.chars().noneMatch(c -> c == '"' || c == ',' || c == '\n' || c == '\r')) return text;
        return '"' + text.replace("\"", "\"\"") + '"';
    }

    private static void writeJson(Iterable<Interval> recording, ExportBy by, Writer out) throws IOException {
        // Closing the stream would close the connection.
        @SuppressWarnings("resource")
        JsonWriter json = new JsonWriter(out);
        json.setHtmlSafe(true);
        List<String> names = List.copyOf(columns(by).keySet());
        json.beginArray();
        for (Interval interval : recording)
            for (List<Object> row : rows(interval, by)) {
                json.beginObject();
                for (int i = 0; i < names.size(); i++) {
                    json.name(names.get(i));
                    if (row.get(i) instanceof Number number) json.value(number);
                    else json.value(row.get(i).toString());
                }
                json.endObject();
            }
        json.endArray();
        json.flush();
    }
}
