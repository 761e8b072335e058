// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs a benchmark with a main method in a child JVM. */
final class BenchmarkRunner {
    private BenchmarkRunner() {}

    /** Checks the exit code and returns what the benchmark wrote to stdout and stderr. */
    static String run(Class<?> main, int exitCode, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(Redirect.from(Path.of("/dev/null").toFile()))
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isEqualTo(exitCode);
        return output;
    }

    /** Returns the cells of all tables, without headings. The first cell of each row has index 1. */
    static List<String[]> rows(String markdown) {
        return markdown.lines()
                .filter(line -> line.startsWith("| "))
                .skip(1)
                .map(line -> line.split(" *\\| *", -1))
                .toList();
    }

    /** Parses the number before the parentheses. */
    static double median(String cell) {
        return Double.parseDouble(cell.split(" ", 2)[0]);
    }
}
