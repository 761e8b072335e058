// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;
import org.taskclock.metrics.ThreadKind;

/** A single match of a regular expression that takes seconds. */
public final class RegexBacktracking extends FindingKind {
    private static final int MIN_SAMPLES = 8;
    private static final long MIN_NANOS = 8 * ThreadHistory.SECOND;

    public RegexBacktracking() {
        super(
                "regex-backtracking",
                33,
                Color.RED,
                Source.DUMPS,
                "A thread has matched one text with a regular expression for seconds: the expression backtracks, which can"
                        + " take exponential time.",
                "Find the expression with taskclock dump PID. Rewrite repetitions of repetitions, such as (a+)+, use"
                        + " possessive ones, such as a++, or limit the length of the text.");
    }

    /** One is enough, because it takes the samples of several seconds. */
    @Override
    public int minIntervals() {
        return 1;
    }

    @Override
    Finding find(Suspect suspect, Observation observation) {
        StackSamples.Stacks stacks = suspect.stacks();
        long nanos = stacks.sampledAt - stacks.regexSince;
        if (suspect.busiest().kind() != ThreadKind.JAVA
                || stacks.regexSamples < MIN_SAMPLES
                || nanos < MIN_NANOS
                || !Suspect.isSpinning(suspect.busiest(), suspect.intervalNanos())) return null;
        List<String> evidence = suspect.evidence();
        evidence.add("it was in java.util.regex in the last " + stacks.regexSamples + " stack samples, over "
                + number(Math.rint(nanos / 1e9)) + " s, without allocating anything or returning to its caller");
        if (!stacks.regexSite.isEmpty()) evidence.add("the program called it " + stacks.regexSite);
        return suspect.finding(this, suspect.that("keeps", "keep") + " matching a regular expression", evidence)
                .lasting(nanos, observation.intervalNanos());
    }
}
