// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.commons.math3.stat.descriptive.rank.Percentile;
import org.apache.commons.math3.stat.descriptive.rank.Percentile.EstimationType;
import org.taskclock.internal.JdkVersions;

/**
 * JMH's results for one JVM, from its JSON. Keys are class, method, and parameters: {@code OtherThreadBenchmark.now
 * parked}.
 *
 * <p>Goals apply to the median of all iterations of all forks. The 10th percentile shows the cost of an operation that
 * other programs do not disturb.
 */
final class JmhResults {
    private static final double MEDIAN = 0.5;
    /** Suffix of the keys of sampled benchmarks, for which only the 99th percentile of each run is used. */
    static final String P99 = " 99 %";

    private static final String BACKEND = "-Dtaskclock.backend=";

    private final String jdk;
    private final String backend;
    private final Map<String, List<Double>> nanos = new LinkedHashMap<>();
    private final Map<String, List<Double>> bytes = new LinkedHashMap<>();

    private JmhResults(String jdk, String backend) {
        this.jdk = jdk;
        this.backend = backend;
    }

    /**
     * Parses files that JMH wrote with {@code -rf json}, with or without {@code -prof gc}. Merges results of the same
     * JVM on the same backend.
     *
     * @throws IllegalArgumentException if the backend of a JVM was not forced: JMH does not record which one was in use
     */
    static List<JmhResults> parse(List<String> jsons) {
        Map<String, JmhResults> byJvm = new LinkedHashMap<>();
        for (String json : jsons) {
            for (JsonElement element : JsonParser.parseString(json).getAsJsonArray()) {
                JsonObject run = element.getAsJsonObject();
                String jdk = run.get("jdkVersion").getAsString();
                String jvm =
                        run.get("vmName").getAsString() + run.get("vmVersion").getAsString();
                String backend = backend(run);
                byJvm.computeIfAbsent(jvm + " " + backend, unused -> new JmhResults(jdk, backend))
                        .add(run);
            }
        }
        return List.copyOf(byJvm.values());
    }

    private static String backend(JsonObject run) {
        String backend = null;
        for (JsonElement arg : run.getAsJsonArray("jvmArgs")) {
            if (arg.getAsString().startsWith(BACKEND))
                backend = arg.getAsString().substring(BACKEND.length());
        }
        if (backend == null) {
            throw new IllegalArgumentException(run.get("benchmark").getAsString()
                    + ": unknown backend: measure with run.sh, or with " + BACKEND + "...");
        }
        return backend;
    }

    private void add(JsonObject run) {
        JsonObject metric = run.getAsJsonObject("primaryMetric");
        String unit = metric.get("scoreUnit").getAsString();
        if (!unit.equals("ns/op")) throw new IllegalArgumentException("unit " + unit + " instead of ns/op");
        List<Double> times = nanos.computeIfAbsent(key(run), unused -> new ArrayList<>());
        if (isSampled(run)) {
            times.add(metric.getAsJsonObject("scorePercentiles").get("99.0").getAsDouble());
        } else {
            for (JsonElement fork : metric.getAsJsonArray("rawData")) {
                for (JsonElement iteration : fork.getAsJsonArray()) times.add(iteration.getAsDouble());
            }
        }
        JsonObject allocated = run.getAsJsonObject("secondaryMetrics").getAsJsonObject("gc.alloc.rate.norm");
        double score = allocated == null ? Double.NaN : allocated.get("score").getAsDouble();
        bytes.computeIfAbsent(key(run), unused -> new ArrayList<>()).add(score);
    }

    private static String key(JsonObject run) {
        String name = run.get("benchmark").getAsString();
        String key = name.substring(name.lastIndexOf('.', name.lastIndexOf('.') - 1) + 1);
        if (isSampled(run)) key += P99;
        JsonObject params = run.getAsJsonObject("params");
        if (params == null) return key;
        return key
                + params.entrySet().stream()
                        .map(param -> " " + param.getValue().getAsString())
                        .collect(Collectors.joining());
    }

    private static boolean isSampled(JsonObject run) {
        return run.get("mode").getAsString().equals("sample");
    }

    String jdk() {
        return jdk;
    }

    String backend() {
        return backend;
    }

    /** Returns whether most readings make no system call. */
    boolean isCounting() {
        return backend.startsWith("rseq");
    }

    boolean isFfm() {
        return Runtime.Version.parse(jdk).feature() >= JdkVersions.FOREIGN_FUNCTIONS;
    }

    boolean readsUserTimeAsText() {
        return JdkVersions.readsUserTimeAsText(Runtime.Version.parse(jdk));
    }

    Set<String> keys() {
        return nanos.keySet();
    }

    boolean has(String key) {
        return nanos.containsKey(key);
    }

    double nanos(String key) {
        return quantile(key, MEDIAN);
    }

    /** Returns a quantile of the iterations, from 0 to 1, with linear interpolation (R_7): there are few iterations. */
    double quantile(String key, double fraction) {
        double[] values =
                nanos.get(key).stream().mapToDouble(Double::doubleValue).toArray();
        return new Percentile().withEstimationType(EstimationType.R_7).evaluate(values, 100 * fraction);
    }

    /** Returns the bytes allocated per operation; NaN without the gc profiler. */
    double bytes(String key) {
        return bytes.get(key).stream()
                .mapToDouble(Double::doubleValue)
                .average()
                .orElse(Double.NaN);
    }
}
