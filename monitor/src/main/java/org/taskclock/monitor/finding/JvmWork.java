// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** What the JVM's own threads do, where that takes much of its CPU time. */
abstract class JvmWork extends FindingKind {
    /** Of the JVM's CPU time, in an interval of a second. */
    static final double MIN_SHARE = 0.25;

    private final ThreadKind threads;
    private final String activity;

    JvmWork(String id, int rank, Color color, ThreadKind threads, String activity, String meaning, String action) {
        super(id, rank, color, Source.FIGURES, meaning, action);
        this.threads = threads;
        this.activity = activity;
    }

    /** Returns whether a thread's kind is certain enough. */
    boolean counts(ThreadUsage usage, Observation observation) {
        return true;
    }

    /** Adds to the evidence. */
    void explain(Observation observation, List<String> evidence) {}

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        long nanos = 0;
        int count = 0;
        for (ThreadUsage usage : observation.usages()) {
            if (usage.kind() != threads || usage.cpuNanos() == 0 || !counts(usage, observation)) continue;
            nanos += usage.cpuNanos();
            count += Math.max(1, usage.threads());
        }
        if (!isBusy(nanos, observation.intervalNanos()) || nanos < MIN_SHARE * observation.processNanos())
            return List.of();
        List<String> evidence = new ArrayList<>();
        evidence.add(percent(nanos, observation.intervalNanos()) + " of a core, in " + count
                + (count == 1 ? " thread" : " threads"));
        explain(observation, evidence);
        String text = activity + " uses " + percent(nanos, observation.processNanos()) + " of the JVM's CPU time";
        return List.of(new Finding(this, 0, text, evidence));
    }

    @Override
    public ThreadKind threads() {
        return threads;
    }

    Alert alert(String name, int minutes, Alert.Severity severity, double share) {
        return new Alert(
                name,
                minutes,
                severity,
                """
                jvm_kind:taskclock_thread_cpu_time_seconds:rate5m{taskclock_pool_kind="%s"}
                / ignoring (taskclock_pool_kind) group_left () jvm:taskclock_process_cpu_time_seconds:rate5m > %s
                and jvm_kind:taskclock_thread_cpu_time_seconds:rate5m > %s""".formatted(threads.label(), share, MIN_PROCESSORS),
                Alert.JVM + activity + " uses {{ $value | humanizePercentage }} of the JVM's CPU time",
                "");
    }
}
