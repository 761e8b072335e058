// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The goal of a row.
 *
 * @param text for a table
 * @param figure of a fork; the goal applies to the median of the forks
 * @param max the largest figure that meets the goal
 */
record CadenceGoal(String row, String text, ToDoubleFunction<CadenceResult> figure, double max) {
    private static final double MAX_NANOS_OVER_COUNTER = 4;
    private static final double MAX_NANOS_OF_FIRST_BY_JNI = 5e6;
    private static final double MAX_NANOS_OF_FIRST_BY_FFM = 15e6;

    private static final List<CadenceGoal> ALL = List.of(
            new CadenceGoal(CadenceRow.TIGHT, "counter + 4 ns", RowSummary::overCounter, MAX_NANOS_OVER_COUNTER),
            ofStock("10us", 0.10),
            ofStock("100us", 0.20),
            ofStock("1ms", 0.70),
            ofStock("switch-1", 1.00));

    private static CadenceGoal ofStock(String row, double max) {
        return new CadenceGoal(row, Goal.format("%.2f of stock", max), RowSummary::ratio, max);
    }

    static Verdict check(RowSummary summary) {
        return ALL.stream()
                .filter(goal -> goal.row.equals(summary.row().name()))
                .findFirst()
                .map(goal -> new Verdict(goal.text, goal.met(summary)))
                .orElse(Verdict.NONE);
    }

    private String met(RowSummary summary) {
        if (!summary.isCounting()) return "not applicable";
        return met(summary.median(figure), max);
    }

    /**
     * Compares the first reading of a process with its goal. FFM may take longer than JNI, because the JDK has to set
     * it up.
     */
    static Verdict checkFirst(String binding, double nanos) {
        double max = binding.equals("JNI") ? MAX_NANOS_OF_FIRST_BY_JNI : MAX_NANOS_OF_FIRST_BY_FFM;
        return new Verdict(Goal.format("%.0f ms", max / 1e6), met(nanos, max));
    }

    private static String met(double measured, double max) {
        return measured <= max ? "yes" : "**no**";
    }

    /** The cells of a table; empty if the row has no goal. */
    record Verdict(String goal, String met) {
        static final Verdict NONE = new Verdict("", "");
    }
}
