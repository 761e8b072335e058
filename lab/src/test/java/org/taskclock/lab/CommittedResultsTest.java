// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.taskclock.benchmarks.JmhSummary;

/** Keeps the committed results small: they contain what documents and programs read, and no raw samples. */
class CommittedResultsTest {
    private static final long MAX_BYTES = 2_000_000;

    private static List<Path> files(String directory) throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("..", directory, "results"))) {
            return files.filter(Files::isRegularFile).toList();
        }
    }

    @Test
    void shouldBeSmall() throws IOException {
        long bytes = 0;
        for (String directory : List.of("lab", "dev/integration", "dev/matrix")) {
            for (Path file : files(directory)) bytes += Files.size(file);
        }
        assertThat(bytes).isBetween(1L, MAX_BYTES);
    }

    /** Returns the runs in a file that JMH or {@code bench} wrote. */
    private static List<JsonElement> runs(Path file) throws IOException {
        List<JsonElement> runs = new ArrayList<>();
        JsonElement json = JsonParser.parseString(Files.readString(file));
        if (json.isJsonArray()) return json.getAsJsonArray().asList();
        if (json.getAsJsonObject().get("jmh") instanceof JsonObject byJdk) {
            for (JsonElement all : byJdk.asMap().values())
                runs.addAll(all.getAsJsonArray().asList());
        }
        return runs;
    }

    @Test
    void shouldContainSummariesOfJmhOnly() throws IOException {
        int checked = 0;
        for (Path file : files("lab")) {
            // CadenceBenchmark writes lines of JSON.
            if (!file.toString().endsWith(".json") || file.toString().contains("cadence")) continue;
            for (JsonElement run : runs(file)) {
                JsonObject summary = run.deepCopy().getAsJsonObject();
                JmhSummary.reduce(summary);
                assertThat(run).as(file.toString()).hasToString(summary.toString());
                checked++;
            }
        }
        assertThat(checked).isPositive();
    }
}
