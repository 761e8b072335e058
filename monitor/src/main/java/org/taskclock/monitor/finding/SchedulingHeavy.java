// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.metrics.ThreadKind;

/** Carriers that use much of their CPU time to switch between virtual threads. */
public final class SchedulingHeavy extends FindingKind {
    /** Of the carriers' CPU time. */
    private static final double MIN_SHARE = 0.4;

    public SchedulingHeavy() {
        super(
                "scheduling-heavy",
                80,
                Color.RED,
                Source.FIGURES,
                "Scheduling virtual threads uses much of the carriers' CPU time.",
                "Find out with taskclock yields PID whether virtual threads call Thread.yield. If they do not, they block too"
                        + " often: let each do more work at a time.");
    }

    static boolean isBusy(Observation observation) {
        return isBusy(observation.agent().schedulingNanos(), observation.intervalNanos());
    }

    static List<String> evidence(Observation observation) {
        Observation.AgentFigures agent = observation.agent();
        List<String> evidence = new ArrayList<>();
        evidence.add("scheduling virtual threads uses " + percent(agent.schedulingNanos(), observation.intervalNanos())
                + " of a core");
        if (agent.mounts() >= 0)
            evidence.add("virtual threads were mounted " + number(agent.mounts() / (observation.intervalNanos() / 1e9))
                    + " times per second");
        return evidence;
    }

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        long carriers = observation.nanosOf(ThreadKind.CARRIER);
        long scheduling = observation.agent().schedulingNanos();
        boolean isYieldStorm = observation.agent().yields() >= 0 || YieldStorm.isOnCarriers(observation, found);
        if (isYieldStorm || !isBusy(observation) || scheduling <= MIN_SHARE * carriers) return List.of();
        List<String> evidence = evidence(observation);
        evidence.add("this is the effect of Thread.yield, or of many short waits");
        evidence.add(YieldStorm.hint(observation.pid()));
        String text =
                "carriers spend " + percent(scheduling, carriers) + " of their CPU time on scheduling virtual threads";
        return List.of(new Finding(this, 0, text, evidence));
    }

    @Override
    public List<Alert> alerts() {
        return List.of(new Alert(
                "TaskClockSchedulingHeavy",
                10,
                Alert.Severity.INFO,
                """
                jvm_kind:taskclock_thread_cpu_time_seconds:rate5m{taskclock_pool_kind="carrier"}
                / ignoring (taskclock_pool_kind) group_left ()
                sum without (taskclock_pool_kind)
                (jvm_kind:taskclock_thread_cpu_time_seconds:rate5m{taskclock_pool_kind=~"carrier|virtual"}) > %s
                and jvm_kind:taskclock_thread_cpu_time_seconds:rate5m > %s
                and ignoring (taskclock_pool_kind) jvm_kind:taskclock_thread_cpu_time_seconds:rate5m{taskclock_pool_kind="virtual"}""".formatted(MIN_SHARE, MIN_PROCESSORS),
                Alert.JVM
                        + "carriers spend {{ $value | humanizePercentage }} of their CPU time on scheduling virtual threads",
                "With the agent, the pools of carriers contain only what virtual threads have not used."));
    }
}
