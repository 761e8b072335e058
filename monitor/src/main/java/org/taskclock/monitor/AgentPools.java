// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.PoolCounters;
import org.taskclock.metrics.ThreadKind;

/**
 * Adds to the readings of a {@link PoolSampler} what TaskClock's agent counts, if it is loaded: the CPU time of virtual
 * threads, and yields. The JVM is asked after its threads were read, so virtual threads may be ahead of their carriers.
 */
final class AgentPools {
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    private static final long TIMEOUT_MILLIS = 2_000;

    /** The pause between two looks for the agent, which read the memory map of the process. */
    private static final long LOOK_NANOS = 60 * NANOS_PER_SECOND;

    /** The pause after a failure, which doubles with each further one. */
    private static final long RETRY_NANOS = 30 * NANOS_PER_SECOND;

    private static final int MAX_DOUBLINGS = 7;

    /** The agent counts the yields of all virtual threads together. */
    private static final EndedPool.Key VIRTUAL_YIELDS = new EndedPool.Key(PoolCounters.OTHER, ThreadKind.VIRTUAL);

    private final int pid;
    private final AttachClient jvm;
    private boolean isPresent;
    private int failures;
    private long notBefore = System.nanoTime();

    /** Whether all that the agent has counted by its next report is to be added. */
    private boolean countsAll;

    // As of the last report. Elements of groups are CPU and user time.
    private final Map<String, long[]> groups = new HashMap<>();
    private Map<Integer, Long> yielders = Map.of();
    private long virtualYields;

    /**
     * Creates a reader.
     *
     * @param fromStart whether to add what an agent that is already loaded has counted before
     */
    AgentPools(int pid, AttachClient jvm, boolean fromStart) {
        this.pid = pid;
        this.jvm = jvm;
        countsAll = fromStart;
    }

    /** Returns a reading with what the agent has counted since the previous call. */
    PoolReading addTo(PoolReading reading, Collection<PooledThread> threads) {
        long now = System.nanoTime();
        if (now - notBefore < 0) return reading;
        AgentReport report;
        try {
            isPresent = isPresent || JvmProcesses.hasLibtaskclock(pid);
            report = isPresent ? AgentReport.request(jvm, TIMEOUT_MILLIS) : null;
            failures = 0;
        } catch (IOException e) {
            notBefore = now + (RETRY_NANOS << Math.min(failures++, MAX_DOUBLINGS));
            return reading;
        }
        if (report == null) {
            isPresent = false;
            notBefore = now + LOOK_NANOS;
            countsAll = true;
            groups.clear();
            yielders = Map.of();
            virtualYields = 0;
            return reading;
        }
        List<ThreadUsage> usages = new ArrayList<>(reading.pools());
        for (AgentReport.Group group : report.virtualThreads()) usages.add(usage(group));
        Map<EndedPool.Key, Long> yields = report.yieldMode().equals("count") ? yields(report, threads) : Map.of();
        countsAll = true;
        return new PoolReading(usages, yields, reading.process());
    }

    private ThreadUsage usage(AgentReport.Group group) {
        long[] last = groups.computeIfAbsent(
                group.name(), n -> countsAll ? new long[2] : new long[] {group.cpuNanos(), group.userNanos()});
        long cpu = Math.max(0, group.cpuNanos() - last[0]);
        long user = Math.max(0, Math.min(cpu, group.userNanos() - last[1]));
        last[0] = group.cpuNanos();
        last[1] += user;
        int live = (int) Math.min(Integer.MAX_VALUE, group.live());
        return new ThreadUsage(
                pid, 0, 0, group.name(), false, ThreadKind.VIRTUAL, group.name(), live, cpu, user, -1, -1, -1, '-');
    }

    /** Returns the yields since the last report, by pool. Those of threads that ended before the report are unknown. */
    private Map<EndedPool.Key, Long> yields(AgentReport report, Collection<PooledThread> threads) {
        Map<Integer, SampledPool> pools = new HashMap<>();
        for (PooledThread thread : threads) pools.put(thread.innerTid, thread.pool);
        Map<EndedPool.Key, Long> yields = new HashMap<>();
        Map<Integer, Long> now = new HashMap<>();
        for (AgentReport.Yielder yielder : report.yielders()) {
            now.put(yielder.tid(), yielder.yields());
            SampledPool pool = pools.get(yielder.tid());
            if (pool == null) continue;
            long last = yielders.getOrDefault(yielder.tid(), countsAll ? 0 : yielder.yields());
            yields.merge(pool.key, Math.max(0, yielder.yields() - last), Long::sum);
        }
        if (report.virtualYields() > 0)
            yields.put(VIRTUAL_YIELDS, countsAll ? Math.max(0, report.virtualYields() - virtualYields) : 0);
        yielders = now;
        virtualYields = report.virtualYields();
        return yields;
    }
}
