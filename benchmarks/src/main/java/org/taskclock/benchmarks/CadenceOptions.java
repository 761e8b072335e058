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
 * What the arguments of {@link CadenceBenchmark} ask for.
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

    private static final String KNOWN =
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
        String measuring = null;
        Deque<String> left = new ArrayDeque<>(List.of(args));
        while (!left.isEmpty()) {
            String option = left.pop();
            if (!option.equals("--from") && !option.equals("--markdown")) measuring = option;
            switch (option) {
                case "--forks" -> forks = number(option, left);
                case "--rounds" -> rounds = number(option, left);
                case "--only" -> rows.addAll(rows(option, left));
                case "--markdown" -> format = other(format, Format.MARKDOWN);
                case "--json" -> format = other(format, Format.JSON);
                case "--from" -> from = path(option, left);
                default -> throw new IllegalArgumentException(option + ": no such option: " + KNOWN);
            }
        }
        if (from != null && measuring != null) {
            throw new IllegalArgumentException(measuring + ": cannot be combined with --from");
        }
        List<CadenceRow> ordered = new ArrayList<>(CadenceRow.ALL);
        if (!rows.isEmpty()) ordered.retainAll(rows);
        return new CadenceOptions(forks, rounds, List.copyOf(ordered), format, from);
    }

    private static String value(String option, Deque<String> left) {
        if (left.isEmpty()) throw new IllegalArgumentException(option + ": needs a value: " + KNOWN);
        return left.pop();
    }

    private static int number(String option, Deque<String> left) {
        String value = value(option, left);
        if (!value.matches("[1-9][0-9]{0,3}"))
            throw new IllegalArgumentException(option + " " + value + ": not a number from 1 to 9999");
        return Integer.parseInt(value);
    }

    private static List<CadenceRow> rows(String option, Deque<String> left) {
        List<CadenceRow> rows = new ArrayList<>();
        for (String name : value(option, left).split(",", -1)) {
            List<CadenceRow> named = CadenceRow.named(name);
            if (named.isEmpty()) {
                throw new IllegalArgumentException(option + " " + name + ": no such row: " + CadenceRow.names());
            }
            rows.addAll(named);
        }
        return rows;
    }

    private static Format other(Format format, Format wanted) {
        if (format != Format.TEXT) throw new IllegalArgumentException("--markdown and --json cannot be combined");
        return wanted;
    }

    private static Path path(String option, Deque<String> left) {
        String value = value(option, left);
        try {
            return Path.of(value);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(option + ": " + e.getMessage(), e);
        }
    }
}
