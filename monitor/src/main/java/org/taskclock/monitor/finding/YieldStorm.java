// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.internal.JdkVersions;

/** Threads that keep calling Thread.yield. */
public final class YieldStorm extends FindingKind {
    /** Per second, of one thread. */
    private static final int MANY_YIELDS = 1_000;

    /** Per second. Yields do not count as voluntary context switches. */
    static final int FEW_SWITCHES = 100;

    public YieldStorm() {
        super(
                "yield-storm",
                10,
                Color.RED,
                Source.FIGURES,
                "Threads keep calling Thread.yield: they use CPU time to wait for something, most of it in the kernel.",
                "Find the call sites with taskclock yields PID, and replace the loop with something that blocks,"
                        + " such as a BlockingQueue or LockSupport.park.");
    }

    /** Says how to count the yields. */
    static String hint(int pid) {
        return "to count the yields by call site, run taskclock yields " + pid;
    }

    /** Only yields that the agent counted, or that a sample shows, are certain. */
    @Override
    Finding find(Suspect suspect, Observation observation) {
        if (!isBusy(suspect.busiest().cpuNanos(), suspect.intervalNanos())) return null;
        StackSamples.Stacks stacks = suspect.stacks();
        Observation.AgentFigures agent = observation.agent();
        List<String> evidence = suspect.evidence();
        boolean isCertain = stacks.yieldingSamples > 0 || suspect.yieldsPerSecond() >= MANY_YIELDS;
        if (stacks.yieldingSamples > 0)
            evidence.add((suspect.isCarrier() ? "the virtual thread it carried" : "it") + " was in Thread.yield in "
                    + stacks.ofSamples(stacks.yieldingSamples));
        if (isCertain && suspect.yieldsPerSecond() > 0) {
            evidence.add("the agent counted " + number(suspect.yieldsPerSecond()) + " yields per second");
            evidence.addAll(agent.sites());
        }
        if (!isCertain) {
            if (agent.yields() >= 0) return null; // it counted few yields, or none
            if (CarrierMonopolized.isMonopolized(suspect)) return null;
            if (isSuspectedByStacks(suspect, observation)) {
                evidence.add("it was between two virtual threads in " + stacks.ofSamples(stacks.schedulingSamples));
                evidence.add(
                        "virtual thread #" + observation.repeatedlyMounted() + " was mounted in more than one sample");
                evidence.add("not confirmed: no sample was in Thread.yield; JVMs before JDK "
                        + JdkVersions.VIRTUAL_STACKS + " do not print the stacks of virtual threads");
            } else {
                return null;
            }
        }
        if (agent.yields() < 0) evidence.add(hint(suspect.busiest().pid()));
        String text = isCertain
                ? suspect.that("keeps", "keep") + " calling Thread.yield"
                : suspect.that("behaves as if it", "behave as if they") + " kept calling Thread.yield";
        return suspect.finding(this, text, evidence);
    }

    /**
     * Yielding virtual threads alternate quickly: samples show the same threads repeatedly, or a carrier between two of
     * them. So do threads that wait for each other, but where stacks of virtual threads are printed, some would yield.
     */
    private static boolean isSuspectedByStacks(Suspect suspect, Observation observation) {
        StackSamples.Stacks stacks = suspect.stacks();
        return suspect.isCarrier()
                && observation.repeatedlyMounted() != 0
                && stacks.schedulingSamples > 2 * stacks.mountedStacks // of which none yields
                && stacks.schedulingSamples >= 2
                && stacks.schedulingSamples * 3 >= stacks.samples;
    }

    /**
     * Finds what the figures of single carriers do not show: each of many carriers may use little CPU time, and few
     * samples may be in Thread.yield.
     */
    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        double yields = observation.agent().virtualYields() / (observation.intervalNanos() / 1e9);
        if (isOnCarriers(observation, found) || yields < MANY_YIELDS || !SchedulingHeavy.isBusy(observation))
            return List.of();
        List<String> evidence = new ArrayList<>(SchedulingHeavy.evidence(observation));
        evidence.addAll(observation.agent().sites());
        return List.of(new Finding(
                this, 0, "virtual threads call Thread.yield " + number(yields) + " times per second", evidence));
    }

    /** Returns whether virtual threads are among those that were found. */
    static boolean isOnCarriers(Observation observation, List<Finding> found) {
        return observation.suspects().stream().filter(Suspect::isCarrier).anyMatch(suspect -> found.stream()
                .anyMatch(finding -> finding.kind() instanceof YieldStorm
                        && finding.tid() == suspect.busiest().tid()));
    }

    @Override
    public List<Alert> alerts() {
        return List.of(new Alert(
                "TaskClockYieldStorm",
                5,
                Alert.Severity.WARNING,
                """
                        rate(taskclock_thread_yield_count_total[5m]) > %s
                        and jvm_pool:taskclock_thread_cpu_time_seconds:rate5m > %s""".formatted(MANY_YIELDS, MIN_PROCESSORS),
                Alert.POOL + "calls Thread.yield {{ $value | humanize }} times per second",
                "Requires an agent that counts yields."));
    }
}
