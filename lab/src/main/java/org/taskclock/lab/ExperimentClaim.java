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
 * A published claim that is checked against one figure per JDK. It is confirmed if it holds on all measured JDKs.
 *
 * @param published the source's figure, as text; may be empty
 * @param format the format of the measured figure, such as {@code "%.1f x"}
 * @param holds whether a measured figure agrees with the claim
 */
record ExperimentClaim(String text, String source, String published, String format, DoublePredicate holds) {
    static final String CONFIRMED = "confirmed";
    static final String CONTRADICTED = "contradicted";
    static final String NOT_MEASURED = "not measured";
    /** The measurements neither confirm nor contradict the claim. */
    static final String INCONCLUSIVE = "inconclusive";

    /** Checks the claim against one figure per JDK. NaN means not measured. */
    Result.Finding check(Map<String, Double> figures) {
        Map<String, Double> known = new LinkedHashMap<>(figures);
        known.values().removeIf(value -> !Double.isFinite(value));
        StringJoiner text = new StringJoiner("; ");
        known.forEach((jdk, value) -> text.add("JDK " + jdk + ": " + String.format(Locale.ROOT, format, value)));
        boolean all = known.values().stream().allMatch(holds::test);
        String verdict = known.isEmpty() ? NOT_MEASURED : all ? CONFIRMED : CONTRADICTED;
        if (!published.isEmpty()) text.add("published: " + published);
        return new Result.Finding(this.text, source, verdict, text.length() == 0 ? "" : text + ".");
    }

    /** Accepts half to twice the published value. */
    static DoublePredicate about(double published) {
        return value -> value >= published / 2 && value <= published * 2;
    }

    /** Accepts percentages within ten points of the published one. */
    static DoublePredicate near(double published) {
        return value -> Math.abs(value - published) <= 10;
    }
}
