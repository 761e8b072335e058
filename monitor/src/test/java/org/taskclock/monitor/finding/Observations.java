// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

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
        return new Observation(
                SECOND, suspects, usages, SECOND, 0, -1, false, "not sampled", 0, agent, new LockConvoys(), null, null);
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
        return new Observation(
                SECOND,
                List.of(),
                threads,
                processMillis * MILLIS,
                0,
                -1,
                false,
                "not sampled",
                0,
                NO_AGENT,
                new LockConvoys(),
                null,
                new Observation.Details(totals, counters, history, pool));
    }
}
