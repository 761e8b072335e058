// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.taskclock.watch.AgentReport;
import org.taskclock.watch.Row;
import org.taskclock.watch.ThreadNames;

/**
 * What one JVM used, by its own account at its end, or by what was seen from outside.
 *
 * @param source "agent", or "proc" where it left no account: it was killed, or has no agent
 * @param cpuNanos of the process, as far as it was seen
 * @param pools most CPU time first; without virtual threads, whose time is in that of their carriers
 * @param yields null where they were not counted
 */
record Usage(
        long pid,
        String name,
        String source,
        long cpuNanos,
        long userNanos,
        List<Pool> pools,
        List<AgentReport.Group> virtualThreads,
        Yields yields) {
    /** Threads whose names are the same but for numbers. */
    record Pool(String name, Row.Kind kind, int threads, long cpuNanos, long userNanos) {}

    /**
     * @param platformNanos CPU time of the platform threads' yields
     * @param schedulingNanos what carriers used besides running virtual threads, for yields as for other reasons
     */
    record Yields(
            long platform, long virtual, long platformNanos, long schedulingNanos, List<AgentReport.Site> sites) {}

    /** What no thread that was seen accounts for: those that ended between two looks, and the JVM's end. */
    long unseenNanos() {
        return Math.max(0, cpuNanos - pools.stream().mapToLong(Pool::cpuNanos).sum());
    }

    long unseenUserNanos() {
        long user = userNanos - pools.stream().mapToLong(Pool::userNanos).sum();
        return Math.max(0, Math.min(unseenNanos(), user));
    }

    /** What the agent said. */
    static Usage of(AgentReport report) {
        List<Pool> pools = new ArrayList<>();
        for (AgentReport.Pool pool : report.pools()) {
            Row.Kind kind = ThreadNames.kind(pool.example());
            if (kind == Row.Kind.JAVA && !pool.java()) kind = Row.Kind.NATIVE;
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
        return new Usage(
                report.pid(),
                nameOf(report.command()),
                "agent",
                report.cpuNanos(),
                report.userNanos(),
                pools,
                report.virtualThreads(),
                yields);
    }

    /** The main class or jar, of the words that the launcher was given. */
    private static String nameOf(String command) {
        String first = command.isEmpty() ? "?" : command.split(" ", 2)[0];
        return first.substring(first.lastIndexOf('/') + 1);
    }
}
