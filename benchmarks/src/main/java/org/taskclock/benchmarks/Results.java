// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What JMH measured on one JVM, from its JSON. Keys are class, method and parameters: {@code OtherThread.now parked}.
 *
 * <p>The time that goals are judged by is the median of all iterations of all forks. The lowest tenth stands beside it: what
 * an operation costs when neighbours on the machine leave it alone.
 */
final class Results {
    private static final Runtime.Version FIRST_WITH_FFM = Runtime.Version.parse("22");
    /** Where getThreadUserTime no longer reads text from /proc (JDK-8372584 and its backport). */
    private static final Runtime.Version FIRST_WITH_FAST_USER = Runtime.Version.parse("25.0.5");

    private static final double MEDIAN = 0.5;
    /** What a sampled benchmark is called: of each run, only the 99th percentile is looked at. */
    static final String P99 = " 99 %";

    private static final String RUNG = "-Dtaskclock.rung=";

    private final String jdk;
    private final String rung;
    private final Map<String, List<Double>> nanos = new LinkedHashMap<>();
    private final Map<String, List<Double>> bytes = new LinkedHashMap<>();

    private Results(String jdk, String rung) {
        this.jdk = jdk;
        this.rung = rung;
    }

    /**
     * Reads the texts of files that JMH wrote with {@code -rf json}, with or without {@code -prof gc}. What is from the same
     * JVM on the same rung is taken together.
     *
     * @throws IllegalArgumentException if a JVM was not told its rung: which one it took, JMH does not know
     */
    static List<Results> parse(List<String> jsons) {
        Map<String, Results> byJvm = new LinkedHashMap<>();
        for (String json : jsons) {
            for (JsonElement element : JsonParser.parseString(json).getAsJsonArray()) {
                JsonObject run = element.getAsJsonObject();
                String jdk = run.get("jdkVersion").getAsString();
                String jvm =
                        run.get("vmName").getAsString() + run.get("vmVersion").getAsString();
                String rung = rung(run);
                byJvm.computeIfAbsent(jvm + " " + rung, unused -> new Results(jdk, rung))
                        .add(run);
            }
        }
        return List.copyOf(byJvm.values());
    }

    private static String rung(JsonObject run) {
        String rung = null;
        for (JsonElement arg : run.getAsJsonArray("jvmArgs")) {
            if (arg.getAsString().startsWith(RUNG)) rung = arg.getAsString().substring(RUNG.length());
        }
        if (rung == null) {
            throw new IllegalArgumentException(run.get("benchmark").getAsString() + " ran without " + RUNG
                    + "...: on which rung is not known; measure by run.sh, or with that property");
        }
        return rung;
    }

    private void add(JsonObject run) {
        JsonObject metric = run.getAsJsonObject("primaryMetric");
        String unit = metric.get("scoreUnit").getAsString();
        if (!unit.equals("ns/op")) throw new IllegalArgumentException("unit " + unit + ", not ns/op");
        List<Double> times = nanos.computeIfAbsent(key(run), unused -> new ArrayList<>());
        if (isSampled(run)) {
            times.add(metric.getAsJsonObject("scorePercentiles").get("99.0").getAsDouble());
        } else {
            for (JsonElement fork : metric.getAsJsonArray("rawData")) {
                for (JsonElement iteration : fork.getAsJsonArray()) times.add(iteration.getAsDouble());
            }
        }
        Collections.sort(times);
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

    String rung() {
        return rung;
    }

    /** Whether most readings ask nobody. */
    boolean isCounting() {
        return rung.startsWith("rseq");
    }

    boolean isFfm() {
        return Runtime.Version.parse(jdk).compareToIgnoreOptional(FIRST_WITH_FFM) >= 0;
    }

    boolean readsUserTimeAsText() {
        return Runtime.Version.parse(jdk).compareToIgnoreOptional(FIRST_WITH_FAST_USER) < 0;
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

    /** Between the smallest (0) and the largest (1) of the iterations. */
    double quantile(String key, double part) {
        List<Double> sorted = nanos.get(key);
        double at = part * (sorted.size() - 1);
        int below = (int) at;
        int above = Math.min(below + 1, sorted.size() - 1);
        return sorted.get(below) + (at - below) * (sorted.get(above) - sorted.get(below));
    }

    /** Bytes allocated by each operation; not a number where the gc profiler was not on. */
    double bytes(String key) {
        return bytes.get(key).stream()
                .mapToDouble(Double::doubleValue)
                .average()
                .orElse(Double.NaN);
    }
}
