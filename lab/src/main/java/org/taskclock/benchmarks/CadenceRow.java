// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A row of {@link CadenceBenchmark}. Each row runs in its own JVM.
 *
 * @param amount depends on the group: nanoseconds of work before each reading, readings after each switch, threads, or
 *     busy neighbors per processor
 * @param brackets the number of brackets timed per round; 0 in groups without brackets
 */
public record CadenceRow(String name, Group group, int amount, int brackets) {
    enum Group {
        CADENCE,
        SWITCHES,
        THREADS,
        FIRST,
        ENGINE;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static final String TIGHT = "tight";

    static final List<CadenceRow> ALL = List.of(
            new CadenceRow(TIGHT, Group.CADENCE, 0, 2_000),
            new CadenceRow("1us", Group.CADENCE, 1_000, 2_000),
            new CadenceRow("10us", Group.CADENCE, 10_000, 2_000),
            new CadenceRow("100us", Group.CADENCE, 100_000, 1_000),
            new CadenceRow("1ms", Group.CADENCE, 1_000_000, 200),
            new CadenceRow("switch-1", Group.SWITCHES, 1, 2_000),
            new CadenceRow("switch-2", Group.SWITCHES, 2, 2_000),
            new CadenceRow("switch-5", Group.SWITCHES, 5, 2_000),
            new CadenceRow("switch-10", Group.SWITCHES, 10, 2_000),
            new CadenceRow("switch-100", Group.SWITCHES, 100, 1_000),
            new CadenceRow("switch-1000", Group.SWITCHES, 1_000, 200),
            new CadenceRow("threads-1", Group.THREADS, 1, 0),
            new CadenceRow("threads-16", Group.THREADS, 16, 0),
            new CadenceRow("threads-64", Group.THREADS, 64, 0),
            new CadenceRow("first", Group.FIRST, 0, 0),
            new CadenceRow("engine-alone", Group.ENGINE, 0, 0),
            new CadenceRow("engine-busy", Group.ENGINE, 1, 0));

    /** Returns the row with this name, or all rows of the group with this name; empty if there is none. */
    static List<CadenceRow> named(String name) {
        return ALL.stream()
                .filter(row -> row.name.equals(name) || row.group.toString().equals(name))
                .toList();
    }

    /** Returns all names, for a message. */
    static String names() {
        return "rows are " + ALL.stream().map(CadenceRow::name).collect(Collectors.joining(", "))
                + "; groups of rows are "
                + Stream.of(Group.values()).map(Group::toString).collect(Collectors.joining(", "));
    }

    String text() {
        return switch (group) {
            case CADENCE -> amount == 0 ? "tight loop" : name.replaceFirst("(?=[mu])", " ");
            case SWITCHES, THREADS -> Goal.format("%,d", amount);
            case FIRST -> "first reading";
            case ENGINE -> amount == 0 ? "alone" : "a busy neighbor on each processor";
        };
    }

    /** Returns the number of readings per bracket. */
    int reads() {
        return group == Group.SWITCHES ? amount : amount == 0 ? 100 : 1;
    }
}
