// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The examples of docs/bindings.md are parts of tests, so that they compile and do what the page says. */
class ExamplesTest {
    private static final List<String> SOURCES = List.of(
            "src/test/kotlin/org/taskclock/bindings/AccountElementTest.kt",
            "src/test/java/org/taskclock/bindings/AccountContextTest.java",
            "src/test/java/org/taskclock/bindings/ReactorAccountsTest.java",
            "src/test/java/org/taskclock/bindings/MutinyAccountsTest.java",
            "src/test/java/org/taskclock/bindings/LogCpuTimeTest.java",
            "src/test/java/org/taskclock/bindings/TopicAccountsTest.java",
            "src/test/java/org/taskclock/bindings/JdbcAccountsTest.java",
            "src/test/java/org/taskclock/bindings/QuartzAccountsTest.java",
            "../micrometer/src/test/java/org/taskclock/micrometer/ObservationCpuTimeTest.java",
            "../opentelemetry/src/test/java/org/taskclock/opentelemetry/SpanCpuTimeTest.java");

    /** Returns the lines, trimmed, of each block of code in a language. */
    private static List<String> blocks(List<String> lines, String language) {
        List<String> found = new ArrayList<>();
        StringBuilder block = null;
        for (String line : lines) {
            String text = line.strip();
            if (block == null && text.equals("```" + language)) block = new StringBuilder();
            else if (block != null && text.equals("```")) {
                found.add(block.toString());
                block = null;
            } else if (block != null) block.append(text).append('\n');
        }
        return found;
    }

    @Test
    void shouldShowCompiledCode() throws IOException {
        StringBuilder all = new StringBuilder();
        for (String source : SOURCES)
            all.append(Files.readAllLines(Path.of(source)).stream()
                            .map(String::strip)
                            .collect(Collectors.joining("\n")))
                    .append('\n');
        List<String> page = Files.readAllLines(Path.of("../../docs/bindings.md"));
        List<String> examples = new ArrayList<>(blocks(page, "java"));
        examples.addAll(blocks(page, "kotlin"));
        assertThat(examples).hasSize(9);
        for (String example : examples) assertThat(all.toString()).contains(example);
    }
}
