// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;
import org.taskclock.metrics.ThreadKind;

/** A thread that waits in a loop without yielding. */
public final class BusyWait extends FindingKind {
    private static final int MIN_SAMPLES = 8;
    private static final long MIN_NANOS = 8 * ThreadHistory.SECOND;

    public BusyWait() {
        super(
                "busy-wait",
                35,
                Color.RED,
                Source.DUMPS,
                "A thread runs at the same place all the time, and neither blocks nor allocates: it probably waits in a"
                        + " loop for another thread.",
                "Replace the loop with something that blocks, such as a CountDownLatch or LockSupport.park. If it"
                        + " computes something in a long loop, ignore this.");
    }

    /** One is enough, because it takes the samples of several seconds. */
    @Override
    public int minIntervals() {
        return 1;
    }

    @Override
    Finding find(Suspect suspect, Observation observation) {
        StackSamples.Stacks stacks = suspect.stacks();
        long nanos = stacks.sampledAt - stacks.sameSince;
        if (suspect.busiest().kind() != ThreadKind.JAVA
                || stacks.sameSamples < MIN_SAMPLES
                || nanos < MIN_NANOS
                || !Suspect.isSpinning(suspect.busiest(), suspect.intervalNanos())) return null;
        List<String> evidence = suspect.evidence();
        evidence.add("its whole stack was the same in the last " + stacks.sameSamples + " stack samples, over "
                + number(Math.rint(nanos / 1e9)) + " s");
        // The JVM stops a worker here, and not in its task, if the task is over before the next safepoint.
        if (stacks.topFrame.contains("ThreadPoolExecutor.runWorker("))
            evidence.add(
                    "it runs one very short task of its executor after another, as a schedule with a period that is"
                            + " too short causes");
        String text = suspect.that("keeps", "keep") + " running without blocking " + stacks.topFrame;
        return suspect.finding(this, text, evidence).lasting(nanos, observation.intervalNanos());
    }
}
