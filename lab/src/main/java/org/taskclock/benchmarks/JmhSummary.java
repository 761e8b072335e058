// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import com.google.gson.reflect.TypeToken;
import java.io.IOException;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;

/**
 * The part of JMH's JSON that is kept: settings, scores, the figures of each iteration, and allocated bytes.
 * {@link Goals} and {@code taskclock bench --compare} read nothing else, and the rest would be more than nine tenths of
 * a file.
 */
public final class JmhSummary {
    private static final Gson GSON = new Gson();
    private static final String HISTOGRAM = "rawDataHistogram";
    private static final String ITERATIONS = "iterations";
    private static final String AVERAGES = "rawData";
    private static final String PRIMARY = "primaryMetric";
    private static final String SECONDARY = "secondaryMetrics";

    private static final Set<String> RUN = Set.of(
            "benchmark",
            "mode",
            "threads",
            "forks",
            "jvmArgs",
            "jdkVersion",
            "vmName",
            "vmVersion",
            "warmupIterations",
            "warmupTime",
            "measurementIterations",
            "measurementTime",
            "params",
            PRIMARY,
            SECONDARY);
    private static final Set<String> SAMPLED =
            Set.of("score", "scoreError", "scoreUnit", "scorePercentiles", ITERATIONS);
    /** Without percentiles, which JMH computes from the few values of all iterations. */
    private static final Set<String> AVERAGED = Set.of("score", "scoreError", "scoreUnit", AVERAGES);

    /** More than any table shows, and about half of those that JMH writes. */
    private static final MathContext DIGITS = new MathContext(8);

    private JmhSummary() {}

    /**
     * What is kept of the histograms of all iterations, in JMH's unit.
     *
     * @param samples their number in all iterations
     * @param means of the iterations of each fork, like {@code medians} and {@code maxima}
     */
    public record Iterations(
            long samples, List<List<Double>> means, List<List<Double>> medians, List<List<Double>> maxima) {
        private static Iterations of(JsonArray histogramsOfForks) {
            long samples = 0;
            List<List<Double>> means = new ArrayList<>();
            List<List<Double>> medians = new ArrayList<>();
            List<List<Double>> maxima = new ArrayList<>();
            for (JsonElement fork : histogramsOfForks) {
                for (List<List<Double>> figures : List.of(means, medians, maxima)) figures.add(new ArrayList<>());
                for (JsonElement histogram : fork.getAsJsonArray()) {
                    // Pairs of value and count, sorted by value.
                    double[][] pairs = GSON.fromJson(histogram, double[][].class);
                    if (pairs.length == 0) continue;
                    double count = 0;
                    double sum = 0;
                    for (double[] pair : pairs) {
                        count += pair[1];
                        sum += pair[0] * pair[1];
                    }
                    double below = 0;
                    int median = -1;
                    while (2 * below < count) below += pairs[++median][1];
                    samples += (long) count;
                    means.get(means.size() - 1).add(sum / count);
                    medians.get(medians.size() - 1).add(pairs[median][0]);
                    maxima.get(maxima.size() - 1).add(pairs[pairs.length - 1][0]);
                }
            }
            return new Iterations(samples, means, medians, maxima);
        }
    }

    /** Prints a file that JMH wrote, reduced, with a line for each run. */
    public static void main(String[] args) throws IOException {
        StringJoiner lines = new StringJoiner(",\n", "[\n", "\n]");
        for (JsonElement run :
                JsonParser.parseString(Files.readString(Path.of(args[0]))).getAsJsonArray()) {
            reduce(run.getAsJsonObject());
            lines.add(run.toString());
        }
        System.out.println(lines);
    }

    /** Returns the iterations of a metric, reduced or not. Those of averages have only means. */
    public static Iterations iterations(JsonObject metric) {
        if (metric.has(ITERATIONS)) return GSON.fromJson(metric.get(ITERATIONS), Iterations.class);
        if (metric.has(HISTOGRAM)) return Iterations.of(metric.getAsJsonArray(HISTOGRAM));
        List<List<Double>> means = GSON.fromJson(metric.get(AVERAGES), new TypeToken<List<List<Double>>>() {});
        return new Iterations(means.stream().mapToLong(List::size).sum(), means, List.of(), List.of());
    }

    /** Removes everything else from a run. Does not change a run that is reduced already. */
    public static void reduce(JsonObject run) {
        run.keySet().retainAll(RUN);
        JsonObject metric = run.getAsJsonObject(PRIMARY);
        boolean sampled = metric.has(HISTOGRAM) || metric.has(ITERATIONS);
        if (sampled) metric.add(ITERATIONS, GSON.toJsonTree(iterations(metric)));
        metric.keySet().retainAll(sampled ? SAMPLED : AVERAGED);
        JsonObject others = run.getAsJsonObject(SECONDARY);
        others.keySet().retainAll(Set.of("gc.alloc.rate.norm"));
        for (String other : others.keySet())
            others.getAsJsonObject(other).keySet().retainAll(Set.of("score", "scoreUnit"));
        round(run);
    }

    private static JsonElement round(JsonElement element) {
        if (element instanceof JsonObject object) {
            for (Map.Entry<String, JsonElement> member : object.entrySet()) member.setValue(round(member.getValue()));
        } else if (element instanceof JsonArray array) {
            for (int i = 0; i < array.size(); i++) array.set(i, round(array.get(i)));
        } else if (element instanceof JsonPrimitive value
                && value.isNumber()
                && value.getAsBigDecimal().scale() > 0) {
            return new JsonPrimitive(value.getAsBigDecimal().round(DIGITS).doubleValue());
        }
        return element;
    }
}
