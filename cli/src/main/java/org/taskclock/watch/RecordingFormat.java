// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A recording as text: one object of JSON in each line, by the first member a head, a thread, a frame or the end.
 * docs/operating.md describes it.
 *
 * <p>What a thread is called is told once, and its figures when they differ from those in the frame before or when it used CPU
 * time. So a thread that sleeps costs nothing. An instance knows what was told since the last head.
 */
final class RecordingFormat {
    /** The number goes up where an older reader would misunderstand; members that it can do without may be added. */
    static final String NAME = "taskclock-recording";

    static final int VERSION = 1;

    static final String HEAD = "{\"format\":\"" + NAME + "/";
    static final String FRAME = "{\"time\":\"";

    private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();
    private static final List<String> ROW =
            List.of("thread", "cpuNanos", "userNanos", "waitNanos", "voluntary", "involuntary", "state", "threads");

    /** What stays the same. The occurrence tells rows apart that are the same in all else. */
    private record Identity(
            int pid, int tid, long javaId, String name, boolean cut, Row.Kind kind, String pool, int occurrence) {
        static Identity of(Row row, int occurrence) {
            return new Identity(
                    row.pid(), row.tid(), row.javaId(), row.name(), row.cut(), row.kind(), row.pool(), occurrence);
        }
    }

    /**
     * What a recording begins with, and each of its blocks.
     *
     * @param id the same in all files of one recording
     * @param made by which version of this tool
     */
    record Head(String format, String id, String started, String made, Map<String, String> machine, List<String> row) {
        static Head of(String id, Instant started, String made, Map<String, String> machine) {
            return new Head(NAME + "/" + VERSION, id, started.toString(), made, machine, ROW);
        }
    }

    /** What a frame's line holds besides the rows. */
    private record Line(
            String time,
            long intervalNanos,
            int pid,
            String name,
            String source,
            Totals totals,
            List<Diagnosis> diagnoses,
            List<String> notes) {}

    private final Map<Identity, Integer> numbers = new HashMap<>();
    /** By number: of those that live, the last known row. */
    private final Map<Integer, Row> last = new LinkedHashMap<>();

    private int next;

    // ---- writing

    static String head(Head head) {
        return GSON.toJson(head) + "\n";
    }

    static String end(String reason) {
        JsonObject line = new JsonObject();
        line.addProperty("end", reason);
        return GSON.toJson(line) + "\n";
    }

    /** One line, after one for each thread that is new. */
    String encode(Frame frame) {
        StringBuilder text = new StringBuilder();
        JsonArray rows = new JsonArray();
        Map<Identity, Integer> seen = new HashMap<>();
        for (Row row : frame.rows()) {
            Identity identity = Identity.of(row, 0);
            while (seen.containsKey(identity)) identity = Identity.of(row, identity.occurrence + 1);
            Integer number = numbers.get(identity);
            if (number == null) {
                number = next++;
                text.append(thread(number, row)).append('\n');
            }
            seen.put(identity, number);
            if (row.cpuNanos() > 0 || !row.equals(last.get(number))) rows.add(figures(number, row));
            last.put(number, row);
        }
        JsonArray gone = new JsonArray();
        numbers.forEach((identity, number) -> {
            if (seen.containsKey(identity)) return;
            gone.add(number);
            last.remove(number);
        });
        numbers.clear();
        numbers.putAll(seen);
        JsonObject line = GSON.toJsonTree(new Line(
                        frame.end().toString(),
                        frame.intervalNanos(),
                        frame.pid(),
                        frame.name(),
                        frame.source(),
                        frame.totals(),
                        frame.diagnoses(),
                        frame.notes()))
                .getAsJsonObject();
        line.add("rows", rows);
        line.add("gone", gone);
        return text.append(GSON.toJson(line)).append('\n').toString();
    }

    private static String thread(int number, Row row) {
        JsonObject line = new JsonObject();
        line.addProperty("thread", number);
        line.addProperty("pid", row.pid());
        line.addProperty("tid", row.tid());
        line.addProperty("javaId", row.javaId());
        line.addProperty("name", row.name());
        if (row.cut()) line.addProperty("cut", true);
        line.addProperty("kind", row.kind().name());
        line.addProperty("pool", row.pool());
        return GSON.toJson(line);
    }

    private static JsonArray figures(int number, Row row) {
        JsonArray all = new JsonArray();
        all.add(number);
        all.add(row.cpuNanos());
        all.add(row.userNanos());
        all.add(row.waitNanos());
        all.add(row.voluntary());
        all.add(row.involuntary());
        all.add(row.state());
        if (row.threads() != 1) all.add(row.threads());
        return all;
    }

    // ---- reading

    /** The head's line; the message of the exception is what is wrong with the file. */
    static Head readHead(String line) throws IOException {
        String version = line.substring(HEAD.length(), Math.max(HEAD.length(), line.indexOf('"', HEAD.length())));
        if (!version.equals(Integer.toString(VERSION))) {
            throw new IOException("was made by a newer taskclock: its format is " + NAME + "/" + version
                    + ", this one reads up to " + VERSION + ": take the newer one");
        }
        return parse(line, Head.class);
    }

    /** Null for a line that is no frame: what it tells is remembered. Members that are not known are passed over. */
    Frame decode(String text) throws IOException {
        JsonObject line = parse(text, JsonObject.class);
        try {
            if (line.has("thread")) learn(line);
            if (!line.has("time")) return null;
            for (JsonElement number : line.getAsJsonArray("gone")) last.remove(number.getAsInt());
            for (JsonElement row : line.getAsJsonArray("rows")) update(row.getAsJsonArray());
            Line all = GSON.fromJson(line, Line.class);
            List<Row> rows = new ArrayList<>(last.values());
            rows.sort(Comparator.comparingLong(Row::cpuNanos).reversed());
            return new Frame(
                    Instant.parse(all.time),
                    all.intervalNanos,
                    all.pid,
                    all.name,
                    all.source,
                    rows,
                    all.totals,
                    all.diagnoses,
                    all.notes);
        } catch (RuntimeException e) {
            throw new IOException("a line is not as it should be: " + e.getMessage(), e);
        }
    }

    private void learn(JsonObject line) {
        Row row = new Row(
                line.get("pid").getAsInt(),
                line.get("tid").getAsInt(),
                line.get("javaId").getAsLong(),
                line.get("name").getAsString(),
                line.has("cut"),
                kind(line.get("kind").getAsString()),
                line.get("pool").getAsString(),
                1,
                0,
                0,
                0,
                0,
                0,
                '?');
        last.put(line.get("thread").getAsInt(), row);
    }

    /** A kind of thread that came later is none of those known here. */
    private static Row.Kind kind(String name) {
        for (Row.Kind kind : Row.Kind.values()) if (kind.name().equals(name)) return kind;
        return Row.Kind.NATIVE;
    }

    private void update(JsonArray figures) {
        Row row = last.get(figures.get(0).getAsInt());
        last.put(
                figures.get(0).getAsInt(),
                new Row(
                        row.pid(),
                        row.tid(),
                        row.javaId(),
                        row.name(),
                        row.cut(),
                        row.kind(),
                        row.pool(),
                        figures.size() > 7 ? figures.get(7).getAsInt() : 1,
                        figures.get(1).getAsLong(),
                        figures.get(2).getAsLong(),
                        figures.get(3).getAsLong(),
                        figures.get(4).getAsLong(),
                        figures.get(5).getAsLong(),
                        figures.get(6).getAsString().charAt(0)));
    }

    private static <T> T parse(String line, Class<T> type) throws IOException {
        try {
            T parsed = GSON.fromJson(line, type);
            if (parsed != null) return parsed;
        } catch (RuntimeException e) {
            throw new IOException("a line is not as it should be: " + e.getMessage(), e);
        }
        throw new IOException("a line is empty");
    }
}
