// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;
import org.taskclock.monitor.usage.HeapUsage;
import org.taskclock.monitor.usage.JvmCounters;

/** Threads that are stopped for something other than garbage collection. */
public final class SafepointPressure extends FindingKind {
    /** Of the interval. Thread dumps for our own purposes take less. */
    private static final double MIN_SHARE = 0.1;

    /** Per second. Several tools that watch a JVM, each with a thread dump a second, stop it less often. */
    private static final double MANY_STOPS = 10;

    private static final long LONG_STOP_NANOS = 50_000_000;

    public SafepointPressure() {
        super(
                "safepoints",
                45,
                Color.BLUE,
                Source.DUMPS,
                "The JVM often stops all threads, not for garbage collection, or takes long to stop them.",
                "Start it with -Xlog:safepoint, which names each reason. Common ones are thread dumps and heap inspections"
                        + " by tools, class redefinition, and, for long times to safepoint, long loops over arrays.");
    }

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        if (observation.details() == null) return List.of();
        JvmCounters counters = observation.details().counters();
        HeapUsage heap = observation.details().totals().heap();
        if (counters.stoppedNanos() < 0 || counters.reachingNanos() < 0 || heap == null) return List.of();
        long interval = observation.intervalNanos();
        long stopped = Math.max(0, counters.stoppedNanos() - heap.gcPauseNanos());
        if (counters.safepoints() < MANY_STOPS * interval / 1e9 && stopped < LONG_STOP_NANOS * counters.safepoints())
            stopped = 0;
        // A thread that waits for a processor cannot stop. That is not the fault of the program.
        boolean waits = CpuContention.waitNanos(observation.usages()) > counters.reachingNanos();
        long reaching = waits ? 0 : counters.reachingNanos();
        if (Math.max(stopped, reaching) < MIN_SHARE * interval) return List.of();
        String text = reaching > stopped
                ? "the JVM spends " + percent(reaching, interval) + " of the time on bringing all threads to a stop"
                : "the JVM has stopped all threads for " + percent(stopped, interval)
                        + " of the time, not counting garbage collection";
        return List.of(new Finding(
                this,
                0,
                text,
                List.of(
                        number(counters.safepoints() / (interval / 1e9)) + " safepoints per second",
                        "all threads were stopped for " + percent(counters.stoppedNanos(), interval)
                                + " of the time, of that "
                                + percent(heap.gcPauseNanos(), interval) + " in pauses of garbage collection",
                        "stopping them took " + percent(counters.reachingNanos(), interval) + " of the time")));
    }

    @Override
    boolean mustLast() {
        return true;
    }
}
