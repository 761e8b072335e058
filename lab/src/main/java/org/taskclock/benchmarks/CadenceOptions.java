// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The options of {@link CadenceBenchmark}.
 *
 * @param rows in the order of {@link CadenceRow#ALL}
 * @param from a file of results to show instead of measuring; null if not given
 */
record CadenceOptions(int forks, int rounds, List<CadenceRow> rows, Format format, Path from) {
    enum Format {
        TEXT,
        MARKDOWN,
        JSON
    }

    private static final String OPTIONS =
            "options are --forks N, --rounds N, --only ROW[,ROW...], --markdown, --json, --from FILE";

    /**
     * Parses arguments.
     *
     * @throws IllegalArgumentException with a message for the user
     */
    static CadenceOptions parse(String... args) {
        int forks = 5;
        int rounds = 5;
        Set<CadenceRow> rows = new HashSet<>();
        Format format = Format.TEXT;
        Path from = null;
        String measuringOption = null;
        Deque<String> rest = new ArrayDeque<>(List.of(args));
        while (!rest.isEmpty()) {
            String option = rest.pop();
            if (!option.equals("--from") && !option.equals("--markdown")) measuringOption = option;
            switch (option) {
                case "--forks" -> forks = number(option, rest);
                case "--rounds" -> rounds = number(option, rest);
                case "--only" -> rows.addAll(rows(option, rest));
                case "--markdown" -> format = changed(format, Format.MARKDOWN);
                case "--json" -> format = changed(format, Format.JSON);
                case "--from" -> from = path(option, rest);
                default -> throw new IllegalArgumentException(option + ": unknown option: " + OPTIONS);
            }
        }
        if (from != null && measuringOption != null) {
            throw new IllegalArgumentException(measuringOption + ": cannot be combined with --from");
        }
        List<CadenceRow> ordered = new ArrayList<>(CadenceRow.ALL);
        if (!rows.isEmpty()) ordered.retainAll(rows);
        return new CadenceOptions(forks, rounds, List.copyOf(ordered), format, from);
    }

    private static String value(String option, Deque<String> rest) {
        if (rest.isEmpty()) throw new IllegalArgumentException(option + ": needs a value: " + OPTIONS);
        return rest.pop();
    }

    private static int number(String option, Deque<String> rest) {
        String value = value(option, rest);
        if (!value.matches("[1-9][0-9]{0,3}"))
            throw new IllegalArgumentException(option + " " + value + ": not a number from 1 to 9999");
        return Integer.parseInt(value);
    }

    private static List<CadenceRow> rows(String option, Deque<String> rest) {
        List<CadenceRow> rows = new ArrayList<>();
        for (String name : value(option, rest).split(",", -1)) {
            List<CadenceRow> named = CadenceRow.named(name);
            if (named.isEmpty()) {
                throw new IllegalArgumentException(option + " " + name + ": unknown row: " + CadenceRow.names());
            }
            rows.addAll(named);
        }
        return rows;
    }

    private static Format changed(Format format, Format requested) {
        if (format != Format.TEXT) throw new IllegalArgumentException("--markdown and --json cannot be combined");
        return requested;
    }

    private static Path path(String option, Deque<String> rest) {
        String value = value(option, rest);
        try {
            return Path.of(value);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(option + ": " + e.getMessage(), e);
        }
    }
}
