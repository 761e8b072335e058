// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.time.Instant;
import java.util.List;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.usage.EndedPool;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The CPU use of one JVM between two readings.
 *
 * @param end the time of the second reading
 * @param name the program's main class or jar
 * @param source the origin of the figures: "agent" if the agent is loaded, otherwise "proc"
 * @param threads the threads that were alive in the interval, and groups of virtual or ended threads, most CPU time
 *     first
 * @param notes what could not be measured and why, one per element
 * @param endedPools the threads that ended since watching began
 * @param accounts the named accounts, as groups of kind {@link org.taskclock.metrics.ThreadKind#ACCOUNT}; empty if no
 *     agent reports any
 */
public record Interval(
        Instant end,
        long intervalNanos,
        int pid,
        String name,
        String source,
        List<ThreadUsage> threads,
        ProcessUsage totals,
        List<Finding> findings,
        List<String> notes,
        List<EndedPool> endedPools,
        List<ThreadUsage> accounts) {
    /** Creates an interval without ended threads and accounts. */
    public Interval(
            Instant end,
            long intervalNanos,
            int pid,
            String name,
            String source,
            List<ThreadUsage> threads,
            ProcessUsage totals,
            List<Finding> findings,
            List<String> notes) {
        this(end, intervalNanos, pid, name, source, threads, totals, findings, notes, List.of(), List.of());
    }

    /**
     * Returns a CPU time as a percentage of one core over the interval; -1 if the time is negative, which means
     * unknown.
     */
    public double percent(long nanos) {
        return nanos < 0 ? -1 : 100.0 * nanos / intervalNanos;
    }
}
