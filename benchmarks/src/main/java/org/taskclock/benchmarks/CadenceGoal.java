// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The goal of a row.
 *
 * @param text for a table
 * @param figure of a fork; the median of the forks is judged
 * @param most the largest figure that meets the goal
 */
record CadenceGoal(String row, String text, ToDoubleFunction<CadenceResult> figure, double most) {
    private static final double MOST_OVER_COUNTER = 4;
    private static final double MOST_FIRST_BY_JNI = 5e6;
    private static final double MOST_FIRST_BY_FFM = 15e6;

    private static final List<CadenceGoal> ALL = List.of(
            new CadenceGoal(CadenceRow.TIGHT, "counter + 4 ns", RowSummary::overCounter, MOST_OVER_COUNTER),
            ofStock("10us", 0.10),
            ofStock("100us", 0.20),
            ofStock("1ms", 0.70),
            ofStock("switch-1", 1.00));

    private static CadenceGoal ofStock(String row, double most) {
        return new CadenceGoal(row, Goal.format("%.2f of stock", most), RowSummary::ratio, most);
    }

    /** Judges a row. */
    static Verdict judge(RowSummary summary) {
        return ALL.stream()
                .filter(goal -> goal.row.equals(summary.row().name()))
                .findFirst()
                .map(goal -> new Verdict(goal.text, goal.met(summary)))
                .orElse(Verdict.NONE);
    }

    private String met(RowSummary summary) {
        if (!summary.isCounting()) return "not asked";
        return met(summary.median(figure), most);
    }

    /** Judges the first reading of a process. FFM may take longer than JNI, as the JDK has to set it up. */
    static Verdict judgeFirst(String binding, double nanos) {
        double most = binding.equals("JNI") ? MOST_FIRST_BY_JNI : MOST_FIRST_BY_FFM;
        return new Verdict(Goal.format("%.0f ms", most / 1e6), met(nanos, most));
    }

    private static String met(double measured, double most) {
        return measured <= most ? "yes" : "**no**";
    }

    /** For a table; empty if the row has no goal. */
    record Verdict(String goal, String met) {
        static final Verdict NONE = new Verdict("", "");
    }
}
