// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.DoublePredicate;
import org.taskclock.report.Result;

/**
 * What a source says, and one figure for each JDK that tells whether it holds here. It is confirmed if it holds on all that
 * were measured.
 *
 * @param published its figure in words; may be empty
 * @param format of ours, as {@code "%.1f x"}
 */
record Claim(String text, String source, String published, String format, DoublePredicate holds) {
    static final String CONFIRMED = "confirmed";
    static final String CONTRADICTED = "contradicted";
    static final String NOT_MEASURED = "not measured";
    /** Something was measured, but does not tell. */
    static final String CANNOT_TELL = "cannot be told";

    /** Figures by JDK; NaN where there is none. */
    Result.Finding judge(Map<String, Double> figures) {
        Map<String, Double> known = new LinkedHashMap<>(figures);
        known.values().removeIf(value -> !Double.isFinite(value));
        StringJoiner text = new StringJoiner("; ");
        known.forEach((jdk, value) -> text.add("JDK " + jdk + ": " + String.format(Locale.ROOT, format, value)));
        boolean all = known.values().stream().allMatch(holds::test);
        String verdict = known.isEmpty() ? NOT_MEASURED : all ? CONFIRMED : CONTRADICTED;
        if (!published.isEmpty()) text.add("published: " + published);
        return new Result.Finding(this.text, source, verdict, text.length() == 0 ? "" : text + ".");
    }

    /** Of the same order: between half and twice as much. */
    static DoublePredicate about(double published) {
        return value -> value >= published / 2 && value <= published * 2;
    }

    /** Percentages: within ten points. */
    static DoublePredicate near(double published) {
        return value -> Math.abs(value - published) <= 10;
    }
}
