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
import org.taskclock.history.ExportBy;
import org.taskclock.history.ExportFormat;
import org.taskclock.history.ParquetExport;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ThreadUsage;

/** Writes the intervals of a recording as rows, one for each thread or pool that used CPU time. */
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

    private static void writeParquet(Iterable<Interval> recording, ExportBy by, OutputStream out) throws IOException {
        Map<String, String> columns = new LinkedHashMap<>();
        columns.put("time", "TIMESTAMPTZ");
        columns.put("interval_nanos", "BIGINT");
        if (by == ExportBy.THREAD) {
            columns.put("tid", "INTEGER");
            columns.put("thread", "VARCHAR");
        }
        columns.put("pool", "VARCHAR");
        columns.put("kind", "VARCHAR");
        columns.put("user_nanos", "BIGINT");
        columns.put("system_nanos", "BIGINT");
        Path file = Files.createTempFile("taskclock-export", ".csv");
        try {
            try (Writer csv = Files.newBufferedWriter(file)) {
                writeCsv(recording, by, csv);
            }
            ParquetExport.write(file, columns, out);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    private static Map<Key, long[]> rows(Interval interval, ExportBy by) {
        Map<Key, long[]> rows = new LinkedHashMap<>();
        for (ThreadUsage usage : interval.threads()) {
            if (usage.cpuNanos() <= 0) continue;
            Key key = by == ExportBy.POOL
                    ? new Key(0, usage.pool(), usage.pool(), usage.kind())
                    : new Key(usage.tid(), usage.name(), usage.pool(), usage.kind());
            long[] sums = rows.computeIfAbsent(key, k -> new long[2]);
            sums[0] += Math.max(0, usage.userNanos());
            sums[1] += Math.max(0, usage.systemNanos());
        }
        return rows;
    }

    private static void writeCsv(Iterable<Interval> recording, ExportBy by, Writer out) throws IOException {
        boolean byThread = by == ExportBy.THREAD;
        out.write("time,interval_nanos," + (byThread ? "tid,thread," : "") + "pool,kind,user_nanos,system_nanos\r\n");
        for (Interval interval : recording)
            for (Map.Entry<Key, long[]> row : rows(interval, by).entrySet()) {
                Key key = row.getKey();
                List<String> fields = new ArrayList<>();
                fields.add(interval.end().toString());
                fields.add(Long.toString(interval.intervalNanos()));
                if (byThread) {
                    fields.add(Integer.toString(key.tid));
                    fields.add(quoted(key.name));
                }
                fields.add(quoted(key.pool));
                fields.add(key.kind.label());
                fields.add(Long.toString(row.getValue()[0]));
                fields.add(Long.toString(row.getValue()[1]));
                out.write(String.join(",", fields) + "\r\n");
            }
    }

    private static String quoted(String value) {
        if (value.chars().noneMatch(c -> c == '"' || c == ',' || c == '\n' || c == '\r')) return value;
        return '"' + value.replace("\"", "\"\"") + '"';
    }

    private static void writeJson(Iterable<Interval> recording, ExportBy by, Writer out) throws IOException {
        // Closing the stream would close the connection.
        @SuppressWarnings("resource")
        JsonWriter json = new JsonWriter(out);
        json.setHtmlSafe(true);
        json.beginArray();
        for (Interval interval : recording)
            for (Map.Entry<Key, long[]> row : rows(interval, by).entrySet()) {
                Key key = row.getKey();
                json.beginObject();
                json.name("time").value(interval.end().toString());
                json.name("interval_nanos").value(interval.intervalNanos());
                if (by == ExportBy.THREAD) {
                    json.name("tid").value(key.tid);
                    json.name("thread").value(key.name);
                }
                json.name("pool").value(key.pool);
                json.name("kind").value(key.kind.label());
                json.name("user_nanos").value(row.getValue()[0]);
                json.name("system_nanos").value(row.getValue()[1]);
                json.endObject();
            }
        json.endArray();
        json.flush();
    }
}
