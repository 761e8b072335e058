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

/** Measurements for tests. */
final class TestMeasurements {
    private TestMeasurements() {}

    static Map<String, JsonElement> file(String name) throws IOException {
        try (Reader in =
                new InputStreamReader(TestMeasurements.class.getResourceAsStream(name), StandardCharsets.UTF_8)) {
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
                Map.of(),
                List.of(),
                jmh);
    }

    /** Returns a sampled measurement on JDK 25.0.3. The value of an iteration is its mean, median, and maximum. */
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
