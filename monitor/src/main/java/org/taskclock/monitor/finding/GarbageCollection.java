// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** Garbage collection that takes much of the JVM's CPU time. */
public final class GarbageCollection extends JvmWork {
    /** Of the JVM's CPU time. Over several minutes, less is remarkable than in a second. */
    private static final double MIN_LASTING_SHARE = 0.1;

    public GarbageCollection() {
        super(
                "gc",
                50,
                Color.BLUE,
                ThreadKind.GC,
                "garbage collection",
                "Garbage collection uses much of the JVM's CPU time.",
                "Compare the used heap with its maximum. Enlarge the heap if it is nearly full, and otherwise find out what"
                        + " allocates so much.");
    }

    /** If the JVM did not pause for a collection, a program's thread may only be named like a GC thread. */
    @Override
    boolean counts(ThreadUsage usage, Observation observation) {
        return observation.hasCollected() || !usage.truncated();
    }

    @Override
    void explain(Observation observation, List<String> evidence) {
        if (observation.details() == null) return;
        long counted = observation.details().counters().gcCpuNanos();
        if (counted > 0)
            evidence.add("the JVM itself has counted " + percent(counted, observation.intervalNanos())
                    + " of a core, after each phase of a collection");
    }

    @Override
    public List<Alert> alerts() {
        return List.of(alert("TaskClockGarbageCollection", 10, Alert.Severity.WARNING, MIN_LASTING_SHARE));
    }
}
