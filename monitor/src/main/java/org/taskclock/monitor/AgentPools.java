// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.taskclock.metrics.PoolCounters;
import org.taskclock.metrics.ThreadKind;

/**
 * Adds the counts of TaskClock's agent, if it is loaded, to the readings of a {@link PoolSampler}: the CPU time of virtual threads, and yields. The agent is queried before or after the threads are read, so virtual threads may be slightly behind or ahead of their carriers.
 *
 * <p>A reading without the agent's answer leaves the CPU time of virtual threads with their carriers. Therefore, the next answer counts only from that reading on.
 */
final class AgentPools {
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    private static final long TIMEOUT_MILLIS = 2_000;

    /** The pause after the first check for the agent, which reads the memory map of the process. It doubles with each check. */
    private static final long MIN_LOOK_NANOS = 2 * NANOS_PER_SECOND;

    private static final long MAX_LOOK_NANOS = 60 * NANOS_PER_SECOND;

    /** The pause after a failure, which doubles with each further failure. */
    private static final long RETRY_NANOS = 30 * NANOS_PER_SECOND;

    private static final int MAX_DOUBLINGS = 7;

    /** The agent counts the yields of all virtual threads together. */
    private static final EndedPool.Key VIRTUAL_YIELDS = new EndedPool.Key(PoolCounters.OTHER, ThreadKind.VIRTUAL);

    /** Requests a report from a JVM. */
    @FunctionalInterface
    interface Request {
        /**
         * Returns the agent's report; null if there is no agent.
         *
         * @param isPresent whether there was one at the last request
         */
        AgentReport send(boolean isPresent) throws IOException;
    }

    private final int pid;
    private final Request request;
    private final LongSupplier clock;
    private boolean isPresent;
    private int failures;
    private long look = MIN_LOOK_NANOS;
    private long notBefore;

    /** The answer to a request that was sent ahead; null if none was. */
    private CompletableFuture<AgentReport> answer;

    /** Whether the previous reading contains the CPU time of all virtual threads up to then. */
    private boolean isContinuous;

    /** Whether all yields that the agent has counted by its next report are to be added. */
    private boolean countsAllYields;

    // As of the last report. Elements of groups are CPU and user time.
    private final Map<String, long[]> groups = new HashMap<>();
    private Map<Integer, Long> yielders = Map.of();
    private long virtualYields;

    /**
     * Creates a reader.
     *
     * @param fromStart whether the first reading has all CPU time since the JVM started
     */
    AgentPools(int pid, AttachClient jvm, boolean fromStart) {
        this(
                pid,
                isPresent -> isPresent || JvmProcesses.hasLibtaskclock(pid)
                        ? AgentReport.request(jvm, TIMEOUT_MILLIS)
                        : null,
                fromStart,
                System::nanoTime);
    }

    AgentPools(int pid, Request request, boolean fromStart, LongSupplier clock) {
        this.pid = pid;
        this.request = request;
        this.clock = clock;
        isContinuous = fromStart;
        countsAllYields = fromStart;
        notBefore = clock.getAsLong();
    }

    /**
     * Sends a request to the agent if one is due, without waiting for the answer, so that several JVMs answer concurrently.
     * The next call of {@link #addTo} uses the answer.
     */
    void ask(Executor executor) {
        if (answer != null || clock.getAsLong() - notBefore < 0) return;
        boolean wasPresent = isPresent;
        answer = CompletableFuture.supplyAsync(() -> report(wasPresent), executor);
    }

    private AgentReport report(boolean wasPresent) {
        try {
            return request.send(wasPresent);
        } catch (IOException e) {
            throw new CompletionException(e);
        }
    }

    /**
     * Returns a reading with the counts of the agent's answer to an earlier request, if any, and sends the next request. Does not wait.
     */
    PoolReading addEarlierTo(PoolReading reading, Collection<PooledThread> threads, Executor executor) {
        PoolReading sum = answer != null && answer.isDone() ? addTo(reading, threads) : reading;
        ask(executor);
        return sum;
    }

    /** Returns a reading with the agent's counts since the previous call. */
    PoolReading addTo(PoolReading reading, Collection<PooledThread> threads) {
        long now = clock.getAsLong();
        boolean wasContinuous = isContinuous;
        isContinuous = false;
        if (answer == null && now - notBefore < 0) return reading;
        AgentReport report;
        try {
            report = answer == null ? report(isPresent) : answer.join();
            failures = 0;
        } catch (CompletionException e) {
            notBefore = now + (RETRY_NANOS << Math.min(failures++, MAX_DOUBLINGS));
            return reading;
        } finally {
            answer = null;
        }
        isPresent = report != null;
        countsAllYields |= report == null;
        if (report == null) {
            notBefore = now + look;
            look = Math.min(MAX_LOOK_NANOS, 2 * look);
            groups.clear();
            yielders = Map.of();
            virtualYields = 0;
            return reading;
        }
        isContinuous = true;
        List<ThreadUsage> usages = new ArrayList<>(reading.pools());
        for (AgentReport.Group group : report.virtualThreads()) usages.add(usage(group, wasContinuous));
        Map<EndedPool.Key, Long> yields = report.yieldMode().equals("count") ? yields(report, threads) : Map.of();
        countsAllYields = true;
        return new PoolReading(usages, yields, reading.process());
    }

    private ThreadUsage usage(AgentReport.Group group, boolean isCounted) {
        long[] last = groups.computeIfAbsent(group.name(), n -> new long[2]);
        long cpu = isCounted ? Math.max(0, group.cpuNanos() - last[0]) : 0;
        long user = Math.max(0, Math.min(cpu, group.userNanos() - last[1]));
        last[0] = group.cpuNanos();
        last[1] = isCounted ? last[1] + user : group.userNanos();
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
            long last = yielders.getOrDefault(yielder.tid(), countsAllYields ? 0 : yielder.yields());
            yields.merge(pool.key, Math.max(0, yielder.yields() - last), Long::sum);
        }
        if (report.virtualYields() > 0)
            yields.put(VIRTUAL_YIELDS, countsAllYields ? Math.max(0, report.virtualYields() - virtualYields) : 0);
        yielders = now;
        virtualYields = report.virtualYields();
        return yields;
    }
}
