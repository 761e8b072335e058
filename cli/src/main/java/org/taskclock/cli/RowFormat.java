// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.taskclock.metrics.AccountKey;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.HeapUsage;
import org.taskclock.monitor.usage.Json;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Formats threads, accounts, and open sections for scripts: as one JSON object per line, so that a truncated stream
 * remains valid, or as CSV (RFC 4180). top.schema.json and docs/json.md describe the fields. Unknown values are null in
 * JSON and empty in CSV.
 */
final class RowFormat {
    /** Changes if a field is removed or changes its meaning. New fields do not require a new version. */
    static final String VERSION = "taskclock-top/1";

    /** The JSON Schema of a line: top.schema.json, and the members of columns that it does not describe. */
    private static final JsonObject SCHEMA = readSchema();

    /** All members but the format, in the order of the schema. */
    private static final Map<String, ThreadColumn.Value> MEMBERS = members();

    private RowFormat() {}

    /** Returns the row of a thread or an account, by member. */
    static Map<String, Object> row(Interval interval, ThreadUsage thread) {
        Map<String, Object> row = new LinkedHashMap<>();
        MEMBERS.forEach((name, value) -> row.put(name, value.of(thread, interval)));
        return row;
    }

    /** Returns the row of an open section, which has few of the members. */
    static Map<String, Object> row(Interval interval, AgentReport.Section section) {
        Map<String, Object> row = new LinkedHashMap<>();
        for (String name : MEMBERS.keySet()) row.put(name, null);
        row.put("time", interval.end().toString());
        row.put("pid", interval.pid());
        if (section.tid() > 0) row.put("tid", section.tid());
        if (section.javaId() > 0) row.put("javaId", section.javaId());
        row.put("name", section.thread());
        row.put("kind", "section");
        row.put("pool", new AccountKey(section.type(), section.name()).pool());
        row.put("threads", 1);
        row.put("nameTruncated", false);
        row.put("program", interval.name());
        row.put("intervalNanos", interval.intervalNanos());
        row.put("totalNanos", Json.known(section.cpuNanos()));
        row.put("openNanos", section.openNanos());
        return row;
    }

    static String json(Map<String, Object> row) throws IOException {
        StringWriter text = new StringWriter();
        try (JsonWriter writer = new JsonWriter(text)) {
            writer.beginObject();
            writer.name("format").value(VERSION);
            for (Map.Entry<String, Object> member : row.entrySet()) {
                writer.name(member.getKey());
                Object value = member.getValue();
                if (value instanceof Number number) writer.value(number);
                else if (value instanceof Boolean flag) writer.value(flag);
                else writer.value((String) value);
            }
            writer.endObject();
        }
        return text.append('\n').toString();
    }

    static String schema() {
        return new GsonBuilder()
                        .setPrettyPrinting()
                        .disableHtmlEscaping()
                        .create()
                        .toJson(SCHEMA) + "\n";
    }

    static String csvHeader() {
        return String.join(",", MEMBERS.keySet()) + "\r\n";
    }

    static String csv(Map<String, Object> row) {
        return row.values().stream()
                        .map(value -> value == null ? "" : quote(value.toString()))
                        .collect(Collectors.joining(","))
                + "\r\n";
    }

    private static JsonObject readSchema() {
        JsonObject schema;
        try (Reader reader =
                new InputStreamReader(RowFormat.class.getResourceAsStream("top.schema.json"), StandardCharsets.UTF_8)) {
            schema = JsonParser.parseReader(reader).getAsJsonObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // it is in the same jar
        }
        JsonObject described = schema.getAsJsonObject("properties");
        for (ThreadColumn column : ThreadColumn.values()) {
            for (ThreadColumn.Member member : column.members()) {
                if (described.has(member.name())) continue;
                JsonObject description = new JsonObject();
                description.addProperty("description", column.help);
                description.addProperty("$ref", "#/$defs/" + member.type());
                described.add(member.name(), description);
                schema.getAsJsonArray("required").add(member.name());
            }
        }
        return schema;
    }

    private static Map<String, ThreadColumn.Value> members() {
        Map<String, ThreadColumn.Value> values = new HashMap<>();
        for (ThreadColumn column : ThreadColumn.values())
            for (ThreadColumn.Member member : column.members()) values.put(member.name(), member.value());
        values.put("openNanos", (thread, interval) -> null);
        values.put("time", (thread, interval) -> interval.end().toString());
        values.put("threads", (thread, interval) -> thread.threads());
        values.put("nameTruncated", (thread, interval) -> thread.truncated());
        values.put("program", (thread, interval) -> interval.name());
        values.put("intervalNanos", (thread, interval) -> interval.intervalNanos());
        values.put("lockClass", (thread, interval) -> known(thread.java().lockClass()));
        values.put("lockId", (thread, interval) -> known(thread.java().lockId()));
        values.put("blockedByTid", (thread, interval) -> {
            int owner = thread.java().ownerTid();
            return owner == 0 ? null : owner;
        });
        values.put(
                "waitedNanosEstimate",
                (thread, interval) -> Json.known(thread.java().waitedNanos()));
        values.put("heapUsedBytes", heap(HeapUsage::usedBytes));
        values.put("heapCommittedBytes", heap(HeapUsage::committedBytes));
        values.put("heapMaxBytes", heap(HeapUsage::maxBytes));
        values.put("gcPauses", heap(HeapUsage::gcPauses));
        values.put("gcPauseNanos", heap(HeapUsage::gcPauseNanos));
        Map<String, ThreadColumn.Value> ordered = new LinkedHashMap<>();
        for (String name : SCHEMA.getAsJsonObject("properties").keySet())
            if (!name.equals("format")) ordered.put(name, values.get(name));
        return ordered;
    }

    private static ThreadColumn.Value heap(ToLongFunction<HeapUsage> figure) {
        return (thread, interval) -> {
            HeapUsage heap = interval.totals().heap();
            return heap == null ? null : Json.known(figure.applyAsLong(heap));
        };
    }

    private static String known(String text) {
        return text.isEmpty() ? null : text;
    }

    private static String quote(String value) {
        if (value.chars().noneMatch(c -> c == '"' || c == ',' || c == '\n' || c == '\r')) return value;
        return '"' + value.replace("\"", "\"\"") + '"';
    }
}
