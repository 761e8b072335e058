// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.List;

/** A container that has used up its CPU limit. */
public final class Throttled extends FindingKind {
    /** Of the periods in which it ran. */
    private static final double MIN_SHARE = 0.05;

    public Throttled() {
        super(
                "throttled",
                40,
                Color.YELLOW,
                Source.FIGURES,
                "The CPU limit of the container keeps its threads from running, although processors may be idle.",
                "Raise the limit, or reduce the number of threads that run at the same time, including those for garbage"
                        + " collection and compilation.");
    }

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        long nanos = observation.throttledNanos();
        if (observation.limit() <= 0 || nanos <= MIN_SHARE * observation.intervalNanos()) return List.of();
        List<String> evidence = new ArrayList<>();
        evidence.add("throttled in " + percent(nanos, observation.intervalNanos()) + " of the periods in which it ran");
        evidence.addAll(CpuContention.waiting(observation.usages(), observation.intervalNanos()));
        return List.of(new Finding(
                this,
                0,
                "the container is throttled by its limit of " + number(observation.limit()) + " cores",
                evidence));
    }

    @Override
    public List<Alert> alerts() {
        return List.of(new Alert(
                "TaskClockThrottled",
                10,
                Alert.Severity.WARNING,
                "rate(taskclock_container_cpu_throttled_periods_total[5m])"
                        + " / rate(taskclock_container_cpu_periods_total[5m]) > " + MIN_SHARE,
                Alert.JVM + "its container was throttled in {{ $value | humanizePercentage }} of the periods",
                ""));
    }
}
