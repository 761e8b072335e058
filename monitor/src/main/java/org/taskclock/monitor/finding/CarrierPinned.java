// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;
import org.taskclock.internal.JdkVersions;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.usage.ThreadUsage;

/** A virtual thread that waits without leaving its carrier. */
public final class CarrierPinned extends FindingKind {
    /** The share of an interval in which a blocked carrier may still run or wait for a processor. */
    private static final double MAX_RUNNABLE_SHARE = 0.2;

    /** Per second. A carrier that runs its thread now and then is switched out each time that the thread waits. */
    private static final double MAX_SWITCHES = 10;

    public CarrierPinned() {
        super(
                "carrier-pinned",
                22,
                Color.MAGENTA,
                Source.DUMPS,
                "A virtual thread waits while it is pinned to its carrier, which no other virtual thread can use.",
                "Do not wait in native code, class initializers, or (before JDK "
                        + JdkVersions.MONITORS_WITHOUT_PINNING
                        + ") synchronized. Flight Recorder lists long waits as jdk.VirtualThreadPinned.");
    }

    private static boolean isIdle(ThreadUsage carrier, long intervalNanos) {
        return runnableNanos(carrier) <= MAX_RUNNABLE_SHARE * intervalNanos
                && carrier.voluntary() <= MAX_SWITCHES * intervalNanos / 1e9;
    }

    private static long runnableNanos(ThreadUsage thread) {
        return thread.cpuNanos() + Math.max(0, thread.waitNanos());
    }

    /** Returns whether a thread is an idle carrier. */
    static boolean isIdleCarrier(ThreadUsage thread, long intervalNanos) {
        return thread.tid() != 0 && thread.kind() == ThreadKind.CARRIER && isIdle(thread, intervalNanos);
    }

    /** Returns whether more virtual threads are mounted than carriers can have run. */
    static boolean isPossible(List<ThreadUsage> threads, VirtualThreadCounts virtual, long intervalNanos) {
        if (virtual.mounted() <= 0) return false;
        long runnable = 0;
        for (ThreadUsage thread : threads)
            if (thread.tid() != 0 && thread.kind() == ThreadKind.CARRIER) runnable += runnableNanos(thread);
        return runnable <= (virtual.mounted() - 1 + MAX_RUNNABLE_SHARE) * intervalNanos;
    }

    @Override
    Finding find(Suspect suspect, Observation observation) {
        StackSamples.Stacks stacks = suspect.stacks();
        if (!suspect.isCarrier()
                || stacks.sameCarriedSamples == 0
                || !isIdle(suspect.busiest(), suspect.intervalNanos())) return null;
        List<String> evidence = suspect.evidence();
        evidence.add("it carried virtual thread #" + stacks.carriedId + " in each of the last "
                + (stacks.sameCarriedSamples + 1) + " stack samples");
        if (!stacks.carriedSite.isEmpty()) evidence.add("the virtual thread was in " + stacks.carriedSite);
        String text = "virtual thread #" + stacks.carriedId + " blocks its carrier \""
                + suspect.busiest().name() + "\"";
        return suspect.finding(this, text, evidence)
                .lasting(stacks.sampledAt - stacks.sameCarriedSince, observation.intervalNanos());
    }

    @Override
    public ThreadKind threads() {
        return ThreadKind.CARRIER;
    }
}
