// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.ThreadNames;
import org.taskclock.monitor.attach.AgentReport;

/**
 * The CPU time of one JVM, as reported by its agent on exit or sampled from /proc.
 *
 * @param source "agent", or "proc" if the JVM was killed or has no agent
 * @param cpuNanos CPU time of the process; with "proc", up to the last sample
 * @param pools ordered by CPU time, highest first; virtual threads are included in their carriers' time and have no
 *     pool
 * @param yields null if yields were not counted
 */
record JvmUsage(
        long pid,
        String name,
        String source,
        long cpuNanos,
        long userNanos,
        List<Pool> pools,
        List<AgentReport.Group> virtualThreads,
        Yields yields) {
    /** Threads whose names differ only in numbers. */
    record Pool(String name, ThreadKind kind, int threads, long cpuNanos, long userNanos) {}

    /**
     * Thread.yield calls and their cost.
     *
     * @param platformNanos CPU time of the yields of platform threads
     * @param schedulingNanos CPU time of carriers outside virtual threads, for yields and for other reasons
     */
    record Yields(
            long platform, long virtual, long platformNanos, long schedulingNanos, List<AgentReport.Site> sites) {}

    /**
     * Returns the CPU time that no known thread accounts for: that of native threads and threads of the JVM that ended
     * between two samples (without the agent, of all threads), and of JVM shutdown.
     */
    long unaccountedNanos() {
        return Math.max(0, cpuNanos - pools.stream().mapToLong(Pool::cpuNanos).sum());
    }

    long unaccountedUserNanos() {
        long user = userNanos - pools.stream().mapToLong(Pool::userNanos).sum();
        return Math.max(0, Math.min(unaccountedNanos(), user));
    }

    /** Converts the agent's report. */
    static JvmUsage of(AgentReport report) {
        List<Pool> pools = new ArrayList<>();
        for (AgentReport.Pool pool : report.pools()) {
            ThreadNames.Owner owner = pool.java() ? ThreadNames.Owner.JAVA : ThreadNames.Owner.NOT_JAVA;
            ThreadKind kind = ThreadNames.kind(pool.example(), owner);
            pools.add(new Pool(pool.name(), kind, pool.threads(), pool.cpuNanos(), pool.userNanos()));
        }
        pools.sort(Comparator.comparingLong(Pool::cpuNanos).reversed());
        long scheduling = Math.max(0, report.schedulingNanos());
        Yields yields = new Yields(
                report.platformYields(),
                report.virtualYields(),
                report.platformYieldNanos(),
                scheduling,
                report.yieldSites());
        return new JvmUsage(
                report.pid(),
                nameOf(report.command()),
                "agent",
                report.cpuNanos(),
                report.userNanos(),
                pools,
                report.virtualThreads(),
                yields);
    }

    /** Returns the main class or jar in the launcher's arguments. */
    private static String nameOf(String command) {
        String first = command.isEmpty() ? "?" : command.split(" ", 2)[0];
        return first.substring(first.lastIndexOf('/') + 1);
    }
}
