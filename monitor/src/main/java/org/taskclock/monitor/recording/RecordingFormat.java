// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

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
import java.util.Objects;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.finding.Evidence;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The text format of a recording: a JSON object per line, whose first member shows whether it is a header, a thread, an
 * interval, or the end. docs/record.md describes the format.
 *
 * <p>The name of a thread is written once. Its figures are written only if it used CPU time or they differ from those
 * of the previous interval, so a sleeping thread takes no space. An instance keeps the state since the last header.
 */
final class RecordingFormat {
    static final String NAME = "taskclock-recording";
    /**
     * Incremented if an older reader would misread the format. Adding members that an older reader can ignore does not
     * require a new version.
     */
    static final int VERSION = 1;

    static final String HEADER = "{\"format\":\"" + NAME + "/";
    static final String INTERVAL = "{\"time\":\"";
    static final String END = "{\"end\":\"";
    static final String EVIDENCE = "{\"evidence\":\"";

    /** Characters of a file of evidence, because a reader keeps the text of a whole block. */
    private static final int MAX_EVIDENCE_FILE = 1 << 20;

    private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();

    /**
     * The first line of each block.
     *
     * @param id the same in all files of one recording
     * @param made the version of TaskClock that wrote the recording
     */
    record Header(
            String format, String id, String started, String made, Map<String, String> machine, List<String> row) {
        static Header of(String id, Instant started, String made, Map<String, String> machine) {
            return new Header(NAME + "/" + VERSION, id, started.toString(), made, machine, UsageRow.NAMES);
        }
    }

    /** The members of an interval's line other than the rows. */
    private record IntervalLine(
            String time,
            long intervalNanos,
            int pid,
            String name,
            String source,
            ProcessUsage totals,
            List<Finding> findings,
            List<String> notes) {}

    private final Map<RecordedThread, Integer> numbers = new HashMap<>();
    /** The last known usage of each live thread, by its number. */
    private final Map<Integer, ThreadUsage> last = new LinkedHashMap<>();

    private final EndedPoolCodec endedPools = new EndedPoolCodec();

    private int nextNumber;

    // ---- writing

    static String header(Header header) {
        return GSON.toJson(header) + "\n";
    }

    static String end(String reason) {
        JsonObject line = new JsonObject();
        line.addProperty("end", reason);
        return GSON.toJson(line) + "\n";
    }

    static String evidence(Evidence evidence) {
        JsonObject files = new JsonObject();
        evidence.files()
                .forEach((name, text) ->
                        files.addProperty(name, text.substring(0, Math.min(MAX_EVIDENCE_FILE, text.length()))));
        JsonObject line = new JsonObject();
        line.addProperty("evidence", evidence.kind());
        line.addProperty("text", evidence.text());
        line.addProperty("since", evidence.since().toString());
        line.addProperty("taken", evidence.taken().toString());
        line.add("files", files);
        return GSON.toJson(line) + "\n";
    }

    /** Returns a line for each new thread, followed by the interval's line. */
    String encode(Interval interval) {
        StringBuilder text = new StringBuilder();
        JsonArray rows = new JsonArray();
        JsonArray sections = new JsonArray();
        Map<RecordedThread, Integer> seen = new HashMap<>();
        List<ThreadUsage> usages = new ArrayList<>(interval.threads());
        usages.addAll(interval.accounts());
        for (ThreadUsage usage : usages) {
            RecordedThread identity = RecordedThread.of(usage, 0);
            while (seen.containsKey(identity)) identity = RecordedThread.of(usage, identity.occurrence() + 1);
            Integer number = numbers.get(identity);
            if (number == null) {
                number = nextNumber++;
                text.append(thread(number, usage)).append('\n');
            }
            seen.put(identity, number);
            ThreadUsage before = last.put(number, usage);
            if (usage.cpuNanos() <= 0 && !hasChanged(usage, before)) continue;
            // Readers add the CPU time of each row to the previous total.
            long totalBefore = before == null ? RecordedThread.totalBefore(usage) : before.totalNanos();
            if (usage.sections().count() >= 0) sections.add(UsageRow.encodeSections(number, usage.sections()));
            rows.add(UsageRow.encode(
                    number, usage, RecordedThread.sum(totalBefore, usage.cpuNanos()) == usage.totalNanos()));
        }
        JsonArray gone = new JsonArray();
        numbers.forEach((identity, number) -> {
            if (seen.containsKey(identity)) return;
            gone.add(number);
            last.remove(number);
        });
        numbers.clear();
        numbers.putAll(seen);
        JsonObject line = GSON.toJsonTree(new IntervalLine(
                        interval.end().toString(),
                        interval.intervalNanos(),
                        interval.pid(),
                        interval.name(),
                        interval.source(),
                        interval.totals(),
                        interval.findings(),
                        interval.notes()))
                .getAsJsonObject();
        line.add("rows", rows);
        line.add("gone", gone);
        if (!sections.isEmpty()) line.add("sections", sections);
        JsonArray ended = endedPools.encode(interval.endedPools());
        if (!ended.isEmpty()) line.add("ended", ended);
        return text.append(GSON.toJson(line)).append('\n').toString();
    }

    private static boolean hasChanged(ThreadUsage usage, ThreadUsage before) {
        return before == null || !JavaStatusFormat.withoutTimes(usage).equals(JavaStatusFormat.withoutTimes(before));
    }

    private static String thread(int number, ThreadUsage usage) {
        JsonObject line = new JsonObject();
        line.addProperty("thread", number);
        line.addProperty("pid", usage.pid());
        line.addProperty("tid", usage.tid());
        line.addProperty("javaId", usage.javaId());
        line.addProperty("name", usage.name());
        if (usage.truncated()) line.addProperty("cut", true);
        line.addProperty("kind", usage.kind().name());
        line.addProperty("pool", usage.pool());
        if (usage.totalNanos() >= 0) {
            line.addProperty("totalNanos", RecordedThread.totalBefore(usage));
            // Most threads have been idle since then.
            if (RecordedThread.watchedFromNanos(usage) != RecordedThread.totalBefore(usage))
                line.addProperty("watchedFromNanos", RecordedThread.watchedFromNanos(usage));
        }
        return GSON.toJson(line);
    }

    // ---- reading

    /**
     * Parses a header. Returns null if it is malformed. Throws if a newer version wrote it; callers put the file name
     * before the exception's message.
     */
    static Header readHeader(String line) throws IOException {
        int version;
        try {
            String format = parse(line, JsonObject.class).get("format").getAsString();
            version = Integer.parseInt(format.substring(NAME.length() + 1));
            if (version == VERSION) {
                Header header = parse(line, Header.class);
                RecordedValues.time(header.started());
                return header.id() == null ? null : header;
            }
        } catch (IOException | RuntimeException e) {
            return null;
        }
        if (version < VERSION) return null;
        throw new IOException("was written by a newer TaskClock: its format is " + NAME + "/" + version
                + ", but this version reads only up to " + VERSION + ": upgrade TaskClock");
    }

    static Evidence readEvidence(String text) throws IOException {
        JsonObject line = parse(text, JsonObject.class);
        try {
            Map<String, String> files = new LinkedHashMap<>();
            line.getAsJsonObject("files")
                    .entrySet()
                    .forEach(file -> files.put(file.getKey(), file.getValue().getAsString()));
            return new Evidence(
                    line.get("evidence").getAsString(),
                    line.get("text").getAsString(),
                    RecordedValues.time(line.get("since").getAsString()),
                    RecordedValues.time(line.get("taken").getAsString()),
                    files);
        } catch (RuntimeException e) {
            throw new IOException("malformed line: " + e.getMessage(), e);
        }
    }

    /** Returns the interval in a line; null for any other line, which may change the state. Ignores unknown members. */
    Interval decode(String text) throws IOException {
        JsonObject line = parse(text, JsonObject.class);
        try {
            if (line.has("thread")) addThread(line);
            if (!line.has("time")) return null;
            for (JsonElement number : line.getAsJsonArray("gone")) last.remove(number.getAsInt());
            for (JsonElement element : line.getAsJsonArray("rows")) {
                JsonArray row = element.getAsJsonArray();
                last.compute(UsageRow.number(row), (number, before) -> UsageRow.decode(row, before));
            }
            UsageRow.decodeSections(line.getAsJsonArray("sections"), last);
            // Versions before this member existed did not record it.
            JsonObject totals = line.getAsJsonObject("totals");
            if (!totals.has("machineUserNanos")) totals.addProperty("machineUserNanos", -1);
            IntervalLine members = GSON.fromJson(line, IntervalLine.class);
            List<ThreadUsage> threads = usages(false);
            return new Interval(
                    RecordedValues.time(members.time),
                    RecordedValues.length(members.intervalNanos),
                    members.pid,
                    Objects.requireNonNull(members.name),
                    Objects.requireNonNull(members.source),
                    threads,
                    RecordedValues.totals(members.totals, members.intervalNanos),
                    RecordedValues.findings(members.findings),
                    List.copyOf(members.notes),
                    endedPools.decode(line.getAsJsonArray("ended")),
                    usages(true));
        } catch (RuntimeException e) {
            throw new IOException("malformed line: " + e.getMessage(), e);
        }
    }

    private List<ThreadUsage> usages(boolean ofAccounts) {
        return last.values().stream()
                .filter(usage -> (usage.kind() == ThreadKind.ACCOUNT) == ofAccounts)
                .sorted(Comparator.comparingLong(ThreadUsage::cpuNanos).reversed())
                .toList();
    }

    private void addThread(JsonObject line) {
        long total = line.has("totalNanos") ? line.get("totalNanos").getAsLong() : -1;
        long watchedFrom =
                line.has("watchedFromNanos") ? line.get("watchedFromNanos").getAsLong() : total;
        ThreadUsage usage = ThreadUsage.of(
                        line.get("pid").getAsInt(),
                        line.get("tid").getAsInt(),
                        line.get("name").getAsString(),
                        kind(line.get("kind").getAsString()))
                .javaId(line.get("javaId").getAsLong())
                .truncated(line.has("cut"))
                .pool(line.get("pool").getAsString())
                .cpu(0, 0)
                .waited(0)
                .switches(0, 0)
                .state('?')
                .total(total, total < 0 ? -1 : total - watchedFrom)
                .build();
        last.put(line.get("thread").getAsInt(), usage);
    }

    /** Returns NATIVE for an unknown name, because a newer version may have more kinds of threads. */
    static ThreadKind kind(String name) {
        for (ThreadKind kind : ThreadKind.values()) if (kind.name().equals(name)) return kind;
        return ThreadKind.NATIVE;
    }

    private static <T> T parse(String line, Class<T> type) throws IOException {
        try {
            T parsed = GSON.fromJson(line, type);
            if (parsed != null) return parsed;
        } catch (RuntimeException e) {
            throw new IOException("malformed line: " + e.getMessage(), e);
        }
        throw new IOException("empty line");
    }
}
