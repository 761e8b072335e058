// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;
import org.taskclock.metrics.ThreadKind;

/** A thread that uses much of its time to create exceptions. */
public final class ExceptionStorm extends FindingKind {
    private static final int MIN_SAMPLES = 8;
    private static final double MIN_SHARE = 0.4;

    public ExceptionStorm() {
        super(
                "exception-storm",
                36,
                Color.YELLOW,
                Source.DUMPS,
                "A thread uses much of its time to create exceptions, whose stack traces are expensive.",
                "Test for what is expected, such as bad input, instead of catching an exception, or create the exception"
                        + " without a stack trace. Flight Recorder lists them as jdk.JavaExceptionThrow.");
    }

    @Override
    Finding find(Suspect suspect, Observation observation) {
        StackSamples.Stacks stacks = suspect.stacks();
        if (suspect.busiest().kind() != ThreadKind.JAVA
                || stacks.samples < MIN_SAMPLES
                || stacks.exceptionSamples < MIN_SHARE * stacks.samples
                || !Suspect.isSpinning(suspect.busiest(), suspect.intervalNanos())) return null;
        List<String> evidence = suspect.evidence();
        evidence.add("it filled in a stack trace in " + stacks.ofSamples(stacks.exceptionSamples));
        if (!stacks.exceptionSite.isEmpty()) evidence.add("in the last one " + stacks.exceptionSite);
        return suspect.finding(this, suspect.that("keeps", "keep") + " creating exceptions", evidence);
    }
}
