// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What was measured, as it is kept in a file: by {@code taskclock bench} and {@code taskclock experiment}, for {@code taskclock
 * report} and programs. docs/results.md describes it. Any list may be empty, none is null.
 *
 * @param format {@link #FORMAT}
 * @param kind "bench" or "experiment"
 * @param name which one, as "quick" or "yield"
 * @param started in ISO 8601, as is ended
 * @param complete false if it was interrupted: what is here was measured, but something is missing
 * @param command how to repeat it
 * @param machine facts by name: cpu, processors, kernel, rung and so on
 * @param method how it was measured, a paragraph each
 * @param jmh what JMH wrote, by JDK; in place of histograms "iterations" may stand, with a few figures of each
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
        List<Jdk> jdks,
        List<String> method,
        List<Finding> findings,
        List<Table> tables,
        List<Bars> bars,
        List<Percentiles> percentiles,
        List<Timeline> timelines,
        List<FlameGraph> flameGraphs,
        Map<String, JsonElement> jmh) {
    public static final String FORMAT = "taskclock-result/1";

    private static final Gson GSON = new GsonBuilder()
            .setPrettyPrinting()
            .disableHtmlEscaping()
            .serializeNulls()
            .create();

    /** Files come from elsewhere too. */
    public Result {
        command = given(command);
        machine = machine == null ? Map.of() : machine;
        jdks = given(jdks);
        method = given(method);
        findings = given(findings);
        tables = given(tables);
        bars = given(bars);
        percentiles = given(percentiles);
        timelines = given(timelines);
        flameGraphs = given(flameGraphs);
        jmh = jmh == null ? Map.of() : jmh;
    }

    private static <T> List<T> given(List<T> list) {
        return list == null ? List.of() : list.stream().filter(Objects::nonNull).toList();
    }

    public record Jdk(String version, String vendor, List<String> flags) {}

    /**
     * What a source claims, beside what was measured.
     *
     * @param verdict "confirmed", "contradicted", "cannot be told" or "not measured"
     */
    public record Finding(String claim, String source, String verdict, String text) {}

    /** A cell is a string, a number, or null where there is nothing. */
    public record Table(String title, String text, List<Column> columns, List<List<Object>> rows) {
        public Table {
            columns = given(columns);
            rows = given(rows);
        }
    }

    /** The unit may be empty. */
    public record Column(String name, String unit) {}

    public record Bars(String title, String text, String unit, List<Bar> items) {
        public Bars {
            items = given(items);
        }
    }

    /** Low and high are the spread of the measurement; null where none is known, as for most published figures. */
    public record Bar(String name, double value, Double low, Double high, boolean published) {}

    /** Values by percentile, of which 100 is the greatest: for a logarithmic scale. */
    public record Percentiles(String title, String text, String unit, List<Series> series) {
        public Percentiles {
            series = given(series);
        }
    }

    /** Values by seconds since the start. */
    public record Timeline(String title, String text, String unit, boolean stacked, List<Series> series) {
        public Timeline {
            series = given(series);
        }
    }

    /** Points are pairs. */
    public record Series(String name, boolean published, List<double[]> points) {
        public Series {
            points = given(points).stream().filter(pair -> pair.length == 2).toList();
        }
    }

    /** Collapsed stacks, one a line: frames with semicolons between, a blank, a number. */
    public record FlameGraph(String title, String text, String collapsed) {
        public FlameGraph {
            collapsed = collapsed == null ? "" : collapsed;
        }
    }

    public static Result read(Path file) throws IOException {
        try {
            Result result = GSON.fromJson(Files.readString(file), Result.class);
            if (result != null && FORMAT.equals(result.format)) return result;
        } catch (JsonParseException e) {
            throw new IOException(file + ": is no result of taskclock: " + e.getMessage(), e);
        }
        throw new IOException(file + ": is no result of taskclock, or of a newer one");
    }

    public void write(Path file) throws IOException {
        // writeString fails for half a pair, which a thread's name may hold.
        Files.write(file, (text() + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** As it is written. */
    public String text() {
        return GSON.toJson(this);
    }
}
