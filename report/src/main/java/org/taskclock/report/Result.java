// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * The result of a measurement, and the format of the file in which {@code taskclock bench} and {@code taskclock
 * experiment} save it for {@code taskclock report} and other programs. lab/README.md describes it. Lists may be empty,
 * but are never null.
 *
 * @param format {@link #FORMAT}
 * @param kind "bench" or "experiment"; "recording" in a report about a recording, which is not saved in this format
 * @param name the name of the benchmark or experiment, such as "quick" or "yield"
 * @param started in ISO 8601, like {@code ended}
 * @param complete false if it was interrupted and measurements are missing
 * @param command the command that repeats the measurement
 * @param machine properties of the machine by name: cpu, processors, kernel, backend, and so on
 * @param load what else the machine did, for each step of the measurement
 * @param method how it was measured, one paragraph per element
 * @param recording "pools" and "threads" of a recording, as the API of {@code taskclock serve} returns them; empty for
 *     other results
 * @param jmh the output of JMH by JDK, complete or reduced to scores, percentiles, and a few figures of each iteration
 */
public record Result(
        String format,
        String kind,
        String name,
        String started,
        String ended,
        boolean complete,
        List<String> command,
        Map<String, String> machine,
        List<Load> load,
        List<Jdk> jdks,
        List<String> method,
        List<Finding> findings,
        List<Table> tables,
        List<Bars> bars,
        List<Percentiles> percentiles,
        List<Timeline> timelines,
        Map<String, JsonElement> recording,
        List<FlameGraph> flameGraphs,
        Map<String, JsonElement> jmh) {
    public static final String FORMAT = "taskclock-result/1";

    private static final String NO_OBJECT = "it is not a JSON object";

    private static final Gson GSON =
            new GsonBuilder().disableHtmlEscaping().serializeNulls().create();
    /**
     * Deep enough that each table and chart, and each run of JMH, has lines of its own, and no line for each number.
     */
    private static final int DEPTH_OF_LINES = 3;

    /**
     * Replaces null with an empty collection and removes null elements, because other programs may have written the
     * file.
     */
    public Result {
        command = withoutNulls(command);
        machine = machine == null ? Map.of() : machine;
        load = withoutNulls(load);
        jdks = withoutNulls(jdks);
        method = withoutNulls(method);
        findings = withoutNulls(findings);
        tables = withoutNulls(tables);
        bars = withoutNulls(bars);
        percentiles = withoutNulls(percentiles);
        timelines = withoutNulls(timelines);
        recording = recording == null ? Map.of() : recording;
        flameGraphs = withoutNulls(flameGraphs);
        jmh = jmh == null ? Map.of() : jmh;
    }

    private static <T> List<T> withoutNulls(List<T> list) {
        return list == null ? List.of() : list.stream().filter(Objects::nonNull).toList();
    }

    public record Jdk(String version, String vendor, List<String> flags) {}

    /**
     * CPU time that was not available to a step of the measurement, in percent of the CPU time of all processors.
     *
     * @param otherPercent used by processes that do not belong to the measurement
     * @param stolenPercent used by the hypervisor for other virtual machines
     */
    public record Load(String step, double seconds, double otherPercent, double stolenPercent) {
        double percent() {
            return otherPercent + stolenPercent;
        }
    }

    /**
     * A claim and whether the measurement supports it. In a report about a recording: a finding, with its periods as
     * the source and its kind as the verdict.
     *
     * @param verdict "confirmed", "contradicted", "inconclusive", or "not measured"
     */
    public record Finding(String claim, String source, String verdict, String text) {}

    /** A cell is a string, a number, or null if it is empty. */
    public record Table(String title, String text, List<Column> columns, List<List<Object>> rows) {
        public Table {
            columns = withoutNulls(columns);
            rows = withoutNulls(rows);
        }
    }

    /** The unit may be empty. */
    public record Column(String name, String unit) {}

    public record Bars(String title, String text, String unit, List<Bar> items) {
        public Bars {
            items = withoutNulls(items);
        }
    }

    /** Low and high are the bounds of the spread; null if unknown, as for most published figures. */
    public record Bar(String name, double value, Double low, Double high, boolean published) {}

    /** Values by percentile, from 0 to 100, for a logarithmic scale. */
    public record Percentiles(String title, String text, String unit, List<Series> series) {
        public Percentiles {
            series = withoutNulls(series);
        }
    }

    /** Values by time in seconds since the start. */
    public record Timeline(String title, String text, String unit, boolean stacked, List<Series> series) {
        public Timeline {
            series = withoutNulls(series);
        }
    }

    /** Each point is a pair. */
    public record Series(String name, boolean published, List<double[]> points) {
        public Series {
            points = withoutNulls(points).stream()
                    .filter(pair -> pair.length == 2)
                    .toList();
        }
    }

    /** Collapsed stacks, one per line: frames separated by semicolons, a space, and a number of samples. */
    public record FlameGraph(String title, String text, String collapsed) {
        public FlameGraph {
            collapsed = collapsed == null ? "" : collapsed;
        }
    }

    /** Reads a result. The exception's message names the file and what is wrong with it. */
    public static Result read(Path file) throws IOException {
        String problem;
        try {
            JsonElement json = JsonParser.parseString(Files.readString(file));
            problem = problem(json);
            if (problem.isEmpty()) return read(json, file);
        } catch (CharacterCodingException e) {
            problem = "it is not text";
        } catch (JsonParseException e) {
            problem = NO_OBJECT;
        }
        throw new IOException(file + ": is not a TaskClock result: " + problem);
    }

    private static Result read(JsonElement json, Path file) throws IOException {
        try {
            return GSON.fromJson(json, Result.class);
        } catch (JsonParseException | IllegalArgumentException e) {
            // Gson does not wrap the exceptions of doubles and arrays.
            throw new IOException(file + ": is damaged: a member of the result has the wrong type", e);
        }
    }

    private static String problem(JsonElement json) {
        if (json.isJsonNull()) return "it is empty";
        if (!json.isJsonObject()) return NO_OBJECT;
        JsonElement format = json.getAsJsonObject().get("format");
        if (format == null) return "it has no member \"format\"";
        if (format.equals(new JsonPrimitive(FORMAT))) return "";
        return "its format is " + format + ", but this version reads \"" + FORMAT + "\"";
    }

    public void write(Path file) throws IOException {
        // writeString fails on an unpaired surrogate, which a thread name may contain.
        Files.write(file, (toJson() + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the content of the file. */
    public String toJson() {
        return lines(GSON.toJsonTree(this), DEPTH_OF_LINES);
    }

    private static String lines(JsonElement json, int depth) {
        if (depth > 0 && json instanceof JsonObject object && !object.isEmpty()) {
            return object.entrySet().stream()
                    .map(member -> GSON.toJson(member.getKey()) + ": " + lines(member.getValue(), depth - 1))
                    .collect(Collectors.joining(",\n", "{\n", "\n}"));
        }
        if (depth > 0 && json instanceof JsonArray array && !array.isEmpty()) {
            return array.asList().stream()
                    .map(element -> lines(element, depth - 1))
                    .collect(Collectors.joining(",\n", "[\n", "\n]"));
        }
        return GSON.toJson(json);
    }
}
