// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.benchmarks.JmhSummary;

/**
 * A measurement of one contender in nanoseconds, from JMH's JSON, reduced or not.
 *
 * @param jdk the label of the JDK in the result
 * @param percentiles by their names in JMH's text output, p0.00 to p1.00; empty unless sampled
 * @param means of the iterations of each fork
 * @param medians of the iterations of each fork; empty unless sampled
 * @param maxima of the iterations of each fork; empty unless sampled
 */
record Measurement(
        String jdk,
        String version,
        Contender contender,
        String backend,
        boolean sampled,
        int threads,
        long samples,
        double mean,
        double error,
        Map<String, Double> percentiles,
        List<List<Double>> means,
        List<List<Double>> medians,
        List<List<Double>> maxima) {
    private static final String BACKEND = "-Dtaskclock.backend=";

    /** The names in JMH's JSON of the percentiles in its text output. */
    private static final Map<String, String> ROWS = jsonNames();

    private static Map<String, String> jsonNames() {
        Map<String, String> rows = new LinkedHashMap<>();
        rows.put("p0.00", "0.0");
        rows.put("p0.50", "50.0");
        rows.put("p0.90", "90.0");
        rows.put("p0.95", "95.0");
        rows.put("p0.99", "99.0");
        rows.put("p0.999", "99.9");
        rows.put("p0.9999", "99.99");
        rows.put("p1.00", "100.0");
        return Collections.unmodifiableMap(rows);
    }

    static List<String> percentileRows() {
        return List.copyOf(ROWS.keySet());
    }

    /** Returns the percentile of a row, from 0 to 100. */
    static double percent(String row) {
        return Double.parseDouble(ROWS.get(row));
    }

    /** Parses {@link org.taskclock.report.Result#jmh}. */
    static List<Measurement> parse(Map<String, JsonElement> jmh) {
        List<Measurement> all = new ArrayList<>();
        jmh.forEach((jdk, runs) -> {
            for (JsonElement run : runs.getAsJsonArray()) {
                Measurement measurement = parse(jdk, run.getAsJsonObject());
                if (measurement != null) all.add(measurement);
            }
        });
        return all;
    }

    private static Measurement parse(String jdk, JsonObject run) {
        Contender contender = Contender.ofBenchmark(run.get("benchmark").getAsString());
        if (contender == null) return null;
        String backend = "";
        for (JsonElement arg : run.getAsJsonArray("jvmArgs")) {
            if (arg.getAsString().startsWith(BACKEND))
                backend = arg.getAsString().substring(BACKEND.length());
        }
        JsonObject metric = run.getAsJsonObject("primaryMetric");
        double nanos = nanos(metric.get("scoreUnit").getAsString());
        boolean sampled = run.get("mode").getAsString().equals("sample");
        Map<String, Double> percentiles = new LinkedHashMap<>();
        if (sampled) {
            JsonObject named = metric.getAsJsonObject("scorePercentiles");
            ROWS.forEach((row, name) -> percentiles.put(row, named.get(name).getAsDouble() * nanos));
        }
        JmhSummary.Iterations iterations = JmhSummary.iterations(metric);
        return new Measurement(
                jdk,
                run.get("jdkVersion").getAsString(),
                contender,
                backend,
                sampled,
                run.get("threads").getAsInt(),
                iterations.samples(),
                metric.get("score").getAsDouble() * nanos,
                number(metric.get("scoreError")) * nanos,
                percentiles,
                inNanos(iterations.means(), nanos),
                inNanos(iterations.medians(), nanos),
                inNanos(iterations.maxima(), nanos));
    }

    private static List<List<Double>> inNanos(List<List<Double>> forks, double nanos) {
        return forks.stream()
                .map(fork -> fork.stream().map(value -> value * nanos).toList())
                .toList();
    }

    /** Parses a number, or "NaN", which JMH writes as a string. */
    private static double number(JsonElement element) {
        return Double.parseDouble(element.getAsString());
    }

    static double nanos(String unit) {
        return switch (unit.replace("/op", "")) {
            case "ns" -> 1;
            case "us" -> 1e3;
            case "ms" -> 1e6;
            default -> throw new IllegalArgumentException("unit " + unit);
        };
    }

    /** Returns a row of JMH's text output: "mean" or a percentile. */
    double row(String row) {
        return row.equals("mean") ? mean : percentiles.get(row);
    }

    /** Returns whether the other has the same JDK, contender, backend, mode, and number of threads. */
    boolean isComparable(Measurement other) {
        return jdk.equals(other.jdk)
                && contender == other.contender
                && backend.equals(other.backend)
                && sampled == other.sampled
                && threads == other.threads;
    }

    /**
     * Returns the range of the iterations of all forks. For samples, uses medians, which other load disturbs less than
     * means.
     */
    QuantileRange range() {
        return QuantileRange.of(sampled ? medians : means);
    }
}
