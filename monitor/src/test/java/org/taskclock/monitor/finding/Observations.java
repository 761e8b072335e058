// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.usage.HeapUsage;
import org.taskclock.monitor.usage.JvmCounters;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** What tests of findings observe in a second: a JVM with the process id 7. */
final class Observations {
    static final long SECOND = 1_000_000_000;
    static final long MILLIS = 1_000_000;

    static final Observation.AgentFigures NO_AGENT =
            new Observation.AgentFigures(-1, 0, -1, 0, List.of(), VirtualThreadCounts.UNKNOWN);

    private Observations() {}

    /** Returns the usage of a thread, in ms; waiting time and voluntary switches may be -1. */
    static ThreadUsage thread(int tid, String name, ThreadKind kind, long cpu, long system, long wait, long switches) {
        return ThreadUsage.of(7, tid, name, kind)
                .javaId(tid)
                .cpu(cpu * MILLIS, (cpu - system) * MILLIS)
                .waited(wait < 0 ? wait : wait * MILLIS)
                .switches(switches, 0)
                .state('R')
                .build();
    }

    static Observation ofPools(ThreadUsage... threads) {
        return Observation.ofPools(
                List.of(), List.of(threads), SECOND, VirtualThreadCounts.UNKNOWN, null, SECOND, null);
    }

    /** Returns a thread of which samples and the agent show this. */
    static Observation ofThread(ThreadUsage thread, StackSamples.Stacks stacks, double yieldsPerSecond, long yields) {
        return of(
                List.of(new Suspect(List.of(thread), "", stacks, yieldsPerSecond, SECOND)),
                List.of(thread),
                new Observation.AgentFigures(yields, 0, -1, 0, List.of("at Site"), VirtualThreadCounts.UNKNOWN));
    }

    static Observation of(List<Suspect> suspects, List<ThreadUsage> usages, Observation.AgentFigures agent) {
        return of(suspects, usages, SECOND, false, 0, agent, null);
    }

    /** Returns what is known of a process that used so many ns. */
    static Observation of(
            List<Suspect> suspects,
            List<ThreadUsage> usages,
            long cpu,
            boolean paused,
            long mounted,
            Observation.AgentFigures agent,
            Observation.Details all) {
        return new Observation(
                SECOND, suspects, usages, cpu, 0, -1, paused, "no stack", mounted, agent, new LockConvoys(), null, all);
    }

    /** Checks that this is the only finding, or that there is none. Returns it, or null. */
    static Finding only(Observation observation, FindingKind kind, boolean isFound, String description) {
        List<Finding> found = observation.findings();
        assertThat(found).as(description).extracting(Finding::kind).isEqualTo(isFound ? List.of(kind) : List.of());
        return isFound ? found.get(0) : null;
    }

    /** Returns what is known from all threads of a JVM on two processors, of which all processes used this much. */
    static Observation ofThreads(
            List<ThreadUsage> threads,
            long processMillis,
            long machineMillis,
            JvmCounters counters,
            ThreadHistory history) {
        return ofThreads(threads, processMillis, machineMillis, counters, history, new CommonPool());
    }

    static Observation ofThreads(
            List<ThreadUsage> threads,
            long processMillis,
            long machineMillis,
            JvmCounters counters,
            ThreadHistory history,
            CommonPool pool) {
        ProcessUsage totals = new ProcessUsage(
                processMillis * MILLIS,
                0,
                -1,
                0,
                -1,
                machineMillis * MILLIS,
                2,
                0,
                -1,
                new HeapUsage(0, 0, 0, 1, 50 * MILLIS),
                VirtualThreadCounts.UNKNOWN);
        Observation.Details details = new Observation.Details(totals, counters, history, pool);
        return of(List.of(), threads, processMillis * MILLIS, false, 0, NO_AGENT, details);
    }
}
