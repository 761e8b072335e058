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
 * What JMH measured of one contender, from its JSON, in nanoseconds.
 *
 * @param jdk the label, under which the JSON is kept
 * @param percentiles by name as JMH has them in its text, p0.00 to p1.00; empty unless sampled
 * @param means of the iterations of each fork
 * @param medians the same; empty unless sampled
 * @param maxima the same; empty unless sampled
 */
record Measurement(
        String jdk,
        String version,
        Contender contender,
        String rung,
        boolean sampled,
        int threads,
        long samples,
        double mean,
        double error,
        Map<String, Double> percentiles,
        List<List<Double>> means,
        List<List<Double>> medians,
        List<List<Double>> maxima) {
    private static final String RUNG = "-Dtaskclock.rung=";
    private static final String HISTOGRAM = "rawDataHistogram";
    private static final String ITERATIONS = "iterations";

    /** As JMH's JSON calls those that its text has a row for. */
    private static final Map<String, String> ROWS = rows();

    private static Map<String, String> rows() {
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

    /** Between 0 and 100. */
    static double percent(String row) {
        return Double.parseDouble(ROWS.get(row));
    }

    /** Of what {@link org.taskclock.report.Result#jmh} holds. */
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
        String rung = "";
        for (JsonElement arg : run.getAsJsonArray("jvmArgs")) {
            if (arg.getAsString().startsWith(RUNG)) rung = arg.getAsString().substring(RUNG.length());
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
                List<Double> ofFork = new ArrayList<>();
                for (JsonElement iteration : fork.getAsJsonArray()) ofFork.add(iteration.getAsDouble() * nanos);
                means.add(ofFork);
                samples += ofFork.size();
            }
        }
        return new Measurement(
                jdk,
                run.get("jdkVersion").getAsString(),
                contender,
                rung,
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

    /** JMH writes "NaN" as a text. */
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

    /** A row of JMH's text: "mean", or a percentile. */
    double row(String row) {
        return row.equals("mean") ? mean : percentiles.get(row);
    }

    /** Whether it is measured as the other, on the same JDK, rung and threads. */
    boolean isLike(Measurement other) {
        return jdk.equals(other.jdk)
                && contender == other.contender
                && rung.equals(other.rung)
                && sampled == other.sampled
                && threads == other.threads;
    }

    /** Of iterations of all forks; sampled ones by their medians, which what else the machine does moves less. */
    Spread spread() {
        return Spread.of(sampled ? medians : means);
    }

    /** What is told of one iteration in place of its histogram, in JMH's unit. */
    private record Iteration(long samples, double mean, double p50, double max) {
        /** Pairs of value and count, as JMH writes them: by value. */
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

    /** Puts mean, median and maximum of each iteration in place of its histogram, which would make most of the file. */
    static void thin(JsonObject run) {
        JsonObject metric = run.getAsJsonObject("primaryMetric");
        if (!metric.has(HISTOGRAM)) return;
        metric.add(ITERATIONS, new Gson().toJsonTree(iterations(metric)));
        metric.remove(HISTOGRAM);
    }
}
