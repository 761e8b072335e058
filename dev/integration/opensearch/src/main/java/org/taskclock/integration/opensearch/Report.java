// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.opensearch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The text of the result, and what was expected but not found. */
final class Report {
    private final StringBuilder text = new StringBuilder();
    private final List<String> failures = new ArrayList<>();

    void append(String format, Object... arguments) {
        String line = String.format(Locale.ROOT, format, arguments);
        System.out.print(line);
        text.append(line);
    }

    void check(boolean isTrue, String format, Object... arguments) {
        if (!isTrue) failures.add(String.format(Locale.ROOT, format, arguments));
    }

    /** Adds the text to a file and returns whether all checks succeeded. */
    boolean finish(Path file) throws IOException {
        Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        for (String failure : failures) System.err.println("FAILED: " + failure);
        return failures.isEmpty();
    }

    static double median(List<Double> values) {
        return quantile(values, 0.5);
    }

    static double quantile(List<Double> values, double part) {
        double[] sorted = values.stream().mapToDouble(value -> value).sorted().toArray();
        double position = part * (sorted.length - 1);
        int below = (int) position;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
    }
}
