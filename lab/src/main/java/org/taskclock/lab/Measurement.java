// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.reflect.TypeToken;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A measurement of one contender in nanoseconds, from JMH's JSON.
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
    private static final String HISTOGRAM = "rawDataHistogram";
    private static final String ITERATIONS = "iterations";

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
        List<List<Double>> means = new ArrayList<>();
        List<List<Double>> medians = new ArrayList<>();
        List<List<Double>> maxima = new ArrayList<>();
        long samples = 0;
        if (sampled) {
            JsonObject named = metric.getAsJsonObject("scorePercentiles");
            ROWS.forEach((row, name) -> percentiles.put(row, named.get(name).getAsDouble() * nanos));
            for (List<Iteration> fork : iterations(metric)) {
                means.add(fork.stream().map(one -> one.mean * nanos).toList());
                medians.add(fork.stream().map(one -> one.p50 * nanos).toList());
                maxima.add(fork.stream().map(one -> one.max * nanos).toList());
                samples += fork.stream().mapToLong(Iteration::samples).sum();
            }
        } else {
            for (JsonElement fork : metric.getAsJsonArray("rawData")) {
                List<Double> iterations = new ArrayList<>();
                for (JsonElement iteration : fork.getAsJsonArray()) iterations.add(iteration.getAsDouble() * nanos);
                means.add(iterations);
                samples += iterations.size();
            }
        }
        return new Measurement(
                jdk,
                run.get("jdkVersion").getAsString(),
                contender,
                backend,
                sampled,
                run.get("threads").getAsInt(),
                samples,
                metric.get("score").getAsDouble() * nanos,
                number(metric.get("scoreError")) * nanos,
                percentiles,
                means,
                medians,
                maxima);
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

    /** A summary that replaces the histogram of an iteration, in JMH's unit. */
    private record Iteration(long samples, double mean, double p50, double max) {
        /** Summarizes a histogram: pairs of value and count, sorted by value. */
        static Iteration of(JsonArray pairs) {
            long count = 0;
            double sum = 0;
            for (JsonElement pair : pairs) {
                long times = pair.getAsJsonArray().get(1).getAsLong();
                count += times;
                sum += times * pair.getAsJsonArray().get(0).getAsDouble();
            }
            long below = 0;
            double median = 0;
            for (JsonElement pair : pairs) {
                below += pair.getAsJsonArray().get(1).getAsLong();
                median = pair.getAsJsonArray().get(0).getAsDouble();
                if (2 * below >= count) break;
            }
            double max = pairs.get(pairs.size() - 1).getAsJsonArray().get(0).getAsDouble();
            return new Iteration(count, sum / count, median, max);
        }
    }

    private static List<List<Iteration>> iterations(JsonObject metric) {
        if (metric.has(ITERATIONS)) {
            return new Gson().fromJson(metric.get(ITERATIONS), new TypeToken<List<List<Iteration>>>() {}.getType());
        }
        List<List<Iteration>> forks = new ArrayList<>();
        for (JsonElement fork : metric.getAsJsonArray(HISTOGRAM)) {
            List<Iteration> iterations = new ArrayList<>();
            for (JsonElement iteration : fork.getAsJsonArray()) {
                if (!iteration.getAsJsonArray().isEmpty()) iterations.add(Iteration.of(iteration.getAsJsonArray()));
            }
            forks.add(iterations);
        }
        return forks;
    }

    /** Replaces the histogram of each iteration, which would dominate the file, with its mean, median, and maximum. */
    static void replaceHistograms(JsonObject run) {
        JsonObject metric = run.getAsJsonObject("primaryMetric");
        if (!metric.has(HISTOGRAM)) return;
        metric.add(ITERATIONS, new Gson().toJsonTree(iterations(metric)));
        metric.remove(HISTOGRAM);
    }
}
