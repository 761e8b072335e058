// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;
import org.taskclock.monitor.usage.ThreadUsage;

/** A virtual thread that keeps its carrier. */
public final class CarrierMonopolized extends FindingKind {
    /** The least share of an interval in which the carrier runs or waits for a processor. */
    private static final double MONOPOLIZED_SHARE = 0.8;

    /** Of few virtual threads, a carrier often has the same one again. */
    private static final int MIN_SAME_SAMPLES = 3;

    public CarrierMonopolized() {
        super(
                "carrier-monopolized",
                20,
                Color.MAGENTA,
                Source.DUMPS,
                "A virtual thread runs without blocking, so other virtual threads cannot use its carrier.",
                "Find the code with taskclock profile PID, and run long computations on platform threads.");
    }

    static boolean isMonopolized(Suspect suspect) {
        ThreadUsage carrier = suspect.busiest();
        // On a busy machine the carrier may wait for a processor. No other virtual thread can use it during that time.
        long occupiedNanos = carrier.cpuNanos() + Math.max(0, carrier.waitNanos());
        return suspect.isCarrier()
                && suspect.stacks().sameCarriedSamples >= MIN_SAME_SAMPLES
                && occupiedNanos > MONOPOLIZED_SHARE * suspect.intervalNanos();
    }

    @Override
    Finding find(Suspect suspect, Observation observation) {
        if (!isMonopolized(suspect)) return null;
        StackSamples.Stacks stacks = suspect.stacks();
        List<String> evidence = suspect.evidence();
        evidence.add("it carried virtual thread #" + stacks.carriedId + " in each of the last "
                + (stacks.sameCarriedSamples + 1) + " stack samples");
        String text = "virtual thread #" + stacks.carriedId + " keeps its carrier \""
                + suspect.busiest().name() + "\" busy; other virtual threads wait";
        return suspect.finding(this, text, evidence)
                .lasting(stacks.sampledAt - stacks.sameCarriedSince, observation.intervalNanos());
    }
}
