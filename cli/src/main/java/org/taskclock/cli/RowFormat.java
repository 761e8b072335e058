// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.StringWriter;
import java.util.List;
import java.util.Locale;
import org.taskclock.monitor.HeapUsage;
import org.taskclock.monitor.Interval;
import org.taskclock.monitor.JavaStatus;
import org.taskclock.monitor.ThreadUsage;

/**
 * Formats threads for scripts: as one JSON object per line, so that a truncated stream remains valid, or as CSV (RFC
 * 4180).
 */
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
            "involuntary",
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

    private static final HeapUsage UNKNOWN_HEAP = new HeapUsage(-1, -1, -1, -1, -1);

    private RowFormat() {}

    static String json(Interval interval, List<ThreadUsage> threads) throws IOException {
        StringWriter text = new StringWriter();
        for (ThreadUsage thread : threads) {
            // A JsonWriter writes only one document.
            @SuppressWarnings("resource")
            JsonWriter writer = new JsonWriter(text);
            writer.beginObject();
            List<Object> values = values(interval, thread);
            for (int i = 0; i < values.size(); i++) {
                writer.name(FIELDS.get(i));
                if (values.get(i) instanceof Number number) writer.value(number);
                else writer.value((String) values.get(i));
            }
            writer.endObject();
            text.append('\n');
        }
        return text.toString();
    }

    static String csvHeader() {
        return String.join(",", FIELDS) + "\r\n";
    }

    static String csv(Interval interval, List<ThreadUsage> threads) {
        StringBuilder text = new StringBuilder();
        for (ThreadUsage thread : threads) {
            String comma = "";
            for (Object value : values(interval, thread)) {
                text.append(comma).append(value instanceof String string ? quote(string) : value);
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
        return List.of(
                interval.end().toString(),
                thread.pid(),
                thread.tid(),
                thread.javaId(),
                thread.name(),
                thread.kind().name().toLowerCase(Locale.ROOT),
                thread.pool(),
                percent(interval, thread.cpuNanos()),
                percent(interval, thread.userNanos()),
                percent(interval, thread.systemNanos()),
                percent(interval, thread.waitNanos()),
                thread.voluntary(),
                thread.involuntary(),
                java.stateName(),
                java.lockClass(),
                java.lockId(),
                java.ownerTid(),
                java.owner(),
                java.blockedNanos(),
                java.waitedNanos(),
                java.allocatedBytes(),
                heap.usedBytes(),
                heap.committedBytes(),
                heap.maxBytes(),
                heap.gcPauses(),
                heap.gcPauseNanos());
    }

    private static double percent(Interval interval, long nanos) {
        return Math.round(interval.percent(nanos) * 1_000) / 1_000.0;
    }

    private static String quote(String value) {
        if (value.chars().noneMatch(c -> c == '"' || c == ',' || c == '\n' || c == '\r')) return value;
        return '"' + value.replace("\"", "\"\"") + '"';
    }
}
