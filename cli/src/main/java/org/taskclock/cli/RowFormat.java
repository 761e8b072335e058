// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.HeapUsage;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Formats threads for scripts: as one JSON object per line, so that a truncated stream remains valid, or as CSV (RFC
 * 4180). top.schema.json and docs/json.md describe the fields. Unknown values are null in JSON and empty in CSV.
 */
final class RowFormat {
    /** Changes if a field is removed or changes its meaning. New fields do not require a new version. */
    static final String VERSION = "taskclock-top/1";

    /** The resource with the JSON Schema of a line. */
    private static final String SCHEMA = "top.schema.json";

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
            "involuntary",
            "state",
            "threads",
            "nameTruncated",
            "program",
            "intervalNanos",
            "cpuNanos",
            "userNanos",
            "systemNanos",
            "waitNanos",
            "totalNanos",
            "watchedNanos",
            "javaState",
            "lockClass",
            "lockId",
            "blockedByTid",
            "blockedBy",
            "blockedNanosEstimate",
            "waitedNanosEstimate",
            "allocatedBytes",
            "heapUsedBytes",
            "heapCommittedBytes",
            "heapMaxBytes",
            "gcPauses",
            "gcPauseNanos");

    /** The states of /proc/PID/stat. Groups have none. */
    private static final String STATES = "RSDTtZXIWKP";

    private static final HeapUsage UNKNOWN_HEAP = new HeapUsage(-1, -1, -1, -1, -1);

    private RowFormat() {}

    static String json(Interval interval, List<ThreadUsage> threads) throws IOException {
        StringWriter text = new StringWriter();
        for (ThreadUsage thread : threads) {
            // A JsonWriter writes only one document.
            @SuppressWarnings("resource")
            JsonWriter writer = new JsonWriter(text);
            writer.beginObject();
            writer.name("format").value(VERSION);
            List<Object> values = values(interval, thread);
            for (int i = 0; i < values.size(); i++) {
                writer.name(FIELDS.get(i));
                if (values.get(i) instanceof Number number) writer.value(number);
                else if (values.get(i) instanceof Boolean flag) writer.value(flag);
                else writer.value((String) values.get(i));
            }
            writer.endObject();
            text.append('\n');
        }
        return text.toString();
    }

    static String schema() throws IOException {
        try (InputStream in = RowFormat.class.getResourceAsStream(SCHEMA)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    static String csvHeader() {
        return String.join(",", FIELDS) + "\r\n";
    }

    static String csv(Interval interval, List<ThreadUsage> threads) {
        StringBuilder text = new StringBuilder();
        for (ThreadUsage thread : threads) {
            String comma = "";
            for (Object value : values(interval, thread)) {
                text.append(comma).append(value instanceof String string ? quote(string) : value == null ? "" : value);
                comma = ",";
            }
            text.append("\r\n");
        }
        return text.toString();
    }

    private static List<Object> values(Interval interval, ThreadUsage thread) {
        JavaStatus java = thread.java();
        HeapUsage heap = interval.totals().heap() == null
                ? UNKNOWN_HEAP
                : interval.totals().heap();
        return Arrays.asList(
                interval.end().toString(),
                thread.pid(),
                thread.tid() == 0 ? null : thread.tid(),
                thread.javaId() == 0 ? null : thread.javaId(),
                thread.name(),
                thread.kind().name().toLowerCase(Locale.ROOT),
                thread.pool(),
                percent(interval, thread.cpuNanos()),
                percent(interval, thread.userNanos()),
                percent(interval, thread.systemNanos()),
                percent(interval, thread.waitNanos()),
                known(thread.voluntary()),
                known(thread.involuntary()),
                STATES.indexOf(thread.state()) < 0 ? null : String.valueOf(thread.state()),
                thread.threads(),
                thread.truncated(),
                interval.name(),
                interval.intervalNanos(),
                known(thread.cpuNanos()),
                known(thread.userNanos()),
                known(thread.systemNanos()),
                known(thread.waitNanos()),
                known(thread.totalNanos()),
                known(thread.watchedNanos()),
                known(java.stateName()),
                known(java.lockClass()),
                known(java.lockId()),
                java.ownerTid() == 0 ? null : java.ownerTid(),
                known(java.owner()),
                known(java.blockedNanos()),
                known(java.waitedNanos()),
                known(java.allocatedBytes()),
                known(heap.usedBytes()),
                known(heap.committedBytes()),
                known(heap.maxBytes()),
                known(heap.gcPauses()),
                known(heap.gcPauseNanos()));
    }

    private static Long known(long value) {
        return value < 0 ? null : value;
    }

    private static String known(String text) {
        return text.isEmpty() ? null : text;
    }

    private static Double percent(Interval interval, long nanos) {
        if (nanos < 0) return null;
        return Math.round(interval.percent(nanos) * 1_000) / 1_000.0;
    }

    private static String quote(String value) {
        if (value.chars().noneMatch(c -> c == '"' || c == ',' || c == '\n' || c == '\r')) return value;
        return '"' + value.replace("\"", "\"\"") + '"';
    }
}
