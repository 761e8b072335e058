// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.report.Result;

/** What tests take for measured. */
final class Measured {
    private Measured() {}

    static Map<String, JsonElement> file(String name) throws IOException {
        try (Reader in = new InputStreamReader(Measured.class.getResourceAsStream(name), StandardCharsets.UTF_8)) {
            JsonObject runs = JsonParser.parseReader(in).getAsJsonObject();
            return new LinkedHashMap<>(runs.asMap());
        }
    }

    static Result result(Map<String, JsonElement> jmh) {
        return new Result(
                Result.FORMAT,
                "bench",
                "quick",
                "",
                "",
                true,
                List.of(),
                Map.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                jmh);
    }

    /** Sampled by one thread on JDK 25.0.3, each iteration with one mean, which is its median and its percentiles too. */
    static Measurement sampled(Contender contender, int threads, Double... iterations) {
        Map<String, Double> percentiles = new LinkedHashMap<>();
        for (String row : Measurement.percentileRows()) percentiles.put(row, iterations[0]);
        List<List<Double>> forks = List.of(List.of(iterations));
        return new Measurement(
                "25.0.3",
                "25.0.3",
                contender,
                "rseq",
                true,
                threads,
                100,
                iterations[0],
                0,
                percentiles,
                forks,
                forks,
                forks);
    }
}
