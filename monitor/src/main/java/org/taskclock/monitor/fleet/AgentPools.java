// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.taskclock.AccountUsage;
import org.taskclock.ProcessClock;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.PoolCounters;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.attach.AccountTotals;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.attach.AttachClient;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.sampling.DumpedNames;
import org.taskclock.monitor.sampling.ProcThread;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Adds to the readings of a {@link PoolSampler} what TaskClock's agent counts, if it is loaded: the CPU time of virtual
 * threads, and yields. The agent is asked before or after the threads are read, so virtual threads may be slightly
 * behind or ahead of their carriers. What an agent reports is used only if the kernel's figures of the process allow
 * it.
 *
 * <p>A reading without the agent's answer leaves the CPU time of virtual threads with their carriers. Therefore, the
 * next answer counts only from that reading on.
 */
final class AgentPools {
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    private static final long TIMEOUT_MILLIS = 2_000;

    /** The time that a request can take: it may be sent twice, after one for the names of threads. */
    static final long MAX_NANOS = 10 * NANOS_PER_SECOND;

    /** The pause between the first two looks for the agent, which read the memory map of the process. It doubles. */
    private static final long MIN_LOOK_NANOS = 2 * NANOS_PER_SECOND;

    private static final long MAX_LOOK_NANOS = 60 * NANOS_PER_SECOND;

    /** The pause after a failure, which doubles with each further failure. */
    private static final long RETRY_NANOS = 30 * NANOS_PER_SECOND;

    private static final int MAX_DOUBLINGS = 7;

    /**
     * CPU time of a process whose accounts are asked for in any case. A finding about them needs as much in a second.
     */
    private static final long BUSY_NANOS = NANOS_PER_SECOND / 2;

    /** The agent counts the yields of all virtual threads together. */
    private static final PoolKey VIRTUAL_YIELDS = new PoolKey(PoolCounters.OTHER, ThreadKind.VIRTUAL);

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
    private final Executor worker;
    private final LongSupplier clock;
    /** The CPU time that the process has used according to the kernel; -1 if unknown. */
    private final LongSupplier processTime;

    private final long accountsNanos;

    private boolean isPresent;
    private int failures;

    /** Why the last answer cannot be used, until it is taken; null if there is no reason. */
    private String problem;

    private long look = MIN_LOOK_NANOS;
    private long notBefore;
    /** Until when accounts are recent enough. */
    private long isRecentUntil;

    /** The answer to a request that was sent ahead; null if none was. */
    private CompletableFuture<AgentReport> answer;

    /** The CPU time of the process when that was sent, and when the request for the last report was. */
    private long askedAtNanos;

    private long reportedAtNanos;

    /** Whether the previous reading has the CPU time of all virtual threads until then. */
    private boolean isContinuous;

    /** Whether all yields that the agent has counted by its next report are to be added. */
    private boolean countsAllYields;

    // As of the last report. Elements of groups are CPU and user time.
    private Map<String, long[]> groups = Map.of();
    private final AccountTotals accountTotals = new AccountTotals();
    private List<AccountUsage> accounts = List.of();
    private Map<Integer, Long> yielders = Map.of();
    private long virtualYields;
    private VirtualThreadCounts virtualThreads = VirtualThreadCounts.UNKNOWN;
    private Set<Long> carriers = Set.of();

    /**
     * Creates a reader.
     *
     * @param fromStart whether the first reading has all CPU time since the JVM started
     * @param worker sends the requests
     * @param accountsNanos how old the accounts of a process that is not busy may be in {@link #addEarlierTo}; with
     *     many of them, a report takes milliseconds
     */
    AgentPools(int pid, AttachClient jvm, boolean fromStart, Executor worker, long accountsNanos) {
        this(
                pid,
                isPresent -> isPresent || JvmProcesses.hasLibtaskclock(pid)
                        ? AgentReport.request(jvm, TIMEOUT_MILLIS)
                        : null,
                fromStart,
                worker,
                accountsNanos,
                System::nanoTime,
                ProcessClock.of(pid)::cpuNanos);
    }

    AgentPools(
            int pid,
            Request request,
            boolean fromStart,
            Executor worker,
            long accountsNanos,
            LongSupplier clock,
            LongSupplier processTime) {
        this.pid = pid;
        this.request = request;
        this.worker = worker;
        this.accountsNanos = accountsNanos;
        this.clock = clock;
        this.processTime = processTime;
        isContinuous = fromStart;
        countsAllYields = fromStart;
        notBefore = clock.getAsLong();
        isRecentUntil = notBefore;
    }

    /**
     * Sends a request to the agent if one is due, without waiting for the answer, so that several JVMs answer
     * concurrently. The next call of {@link #addTo} uses the answer.
     */
    void ask() {
        if (answer != null || clock.getAsLong() - notBefore < 0) return;
        boolean wasPresent = isPresent;
        askedAtNanos = processTime.getAsLong();
        try {
            answer = CompletableFuture.supplyAsync(() -> report(wasPresent), worker);
        } catch (RejectedExecutionException e) {
            return; // closing
        }
    }

    private AgentReport report(boolean wasPresent) {
        try {
            return request.send(wasPresent);
        } catch (IOException e) {
            throw new CompletionException(e);
        }
    }

    /**
     * Returns a reading with the counts of the agent's answer to an earlier request, if any, and sends the next
     * request, unless accounts are all that it would add, and they are recent enough. Does not wait.
     */
    PoolReading addEarlierTo(PoolReading reading, Collection<ProcThread> threads) {
        PoolReading sum = answer != null && answer.isDone() ? addAnswerTo(reading, threads) : reading;
        boolean isRecent = clock.getAsLong() - isRecentUntil < 0;
        if (!isRecent || processTime.getAsLong() - askedAtNanos >= BUSY_NANOS) ask();
        return sum;
    }

    /**
     * Returns a reading with what the agent has counted since the previous call. If it does not answer in time, that is
     * part of a later reading, and meanwhile counts for the carriers.
     *
     * @param until the time until which to wait, according to the clock
     */
    PoolReading addTo(PoolReading reading, Collection<ProcThread> threads, long until) {
        ask();
        if (answer == null) {
            isContinuous = false;
            return reading;
        }
        try {
            answer.get(Math.max(0, until - clock.getAsLong()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return reading;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return reading;
        } catch (ExecutionException e) {
            // Like the answer, below.
        }
        return addAnswerTo(reading, threads);
    }

    private PoolReading addAnswerTo(PoolReading reading, Collection<ProcThread> threads) {
        long now = clock.getAsLong();
        boolean wasContinuous = isContinuous;
        isContinuous = false;
        virtualThreads = VirtualThreadCounts.UNKNOWN;
        carriers = Set.of();
        AgentReport report;
        Map<String, long[]> reported = new HashMap<>();
        List<ThreadUsage> usages = new ArrayList<>(reading.pools());
        try {
            report = answer.join();
            if (report != null) usages.addAll(usages(report, wasContinuous && areKnown(report, threads), reported));
            if (report != null) addAccounts(report, wasContinuous, usages);
            failures = 0;
        } catch (CompletionException | AgentReport.AgentReportException e) {
            Throwable cause = e instanceof CompletionException ? e.getCause() : e;
            if (cause instanceof Error error) throw error;
            if (cause instanceof AgentReport.AgentReportException) problem = cause.getMessage();
            notBefore = now + (RETRY_NANOS << Math.min(failures++, MAX_DOUBLINGS));
            return reading;
        } finally {
            answer = null;
        }
        groups = reported;
        reportedAtNanos = askedAtNanos;
        isPresent = report != null;
        countsAllYields |= report == null;
        if (report == null) {
            notBefore = now + look;
            look = Math.min(MAX_LOOK_NANOS, 2 * look);
            yielders = Map.of();
            virtualYields = 0;
            return reading;
        }
        isContinuous = true;
        isRecentUntil = now + (report.virtualThreads().isEmpty() ? accountsNanos : 0);
        accounts = report.accounts();
        virtualThreads = report.virtualThreadCounts();
        carriers = report.carrierTids();
        Map<PoolKey, Long> yields = report.yieldMode().equals("count") ? yields(report, threads) : Map.of();
        countsAllYields = true;
        return new PoolReading(usages, yields, reading.process());
    }

    /**
     * Returns what virtual threads have used since the last report. The program can forge it, but they cannot have used
     * more than their process, from the request for that report until now.
     */
    private List<ThreadUsage> usages(AgentReport report, boolean isCounted, Map<String, long[]> reported)
            throws AgentReport.AgentReportException {
        List<ThreadUsage> usages = new ArrayList<>();
        long sum = 0;
        for (AgentReport.Group group : report.virtualThreads()) {
            long[] last = groups.getOrDefault(group.name(), new long[2]).clone();
            ThreadUsage usage = usage(group, isCounted, last);
            reported.put(group.name(), last);
            usages.add(usage);
            sum += usage.cpuNanos();
        }
        long now = processTime.getAsLong();
        if (now >= 0) AgentReport.checkTotal("virtual threads since its last report", sum, now - reportedAtNanos);
        return usages;
    }

    /** Adds what accounts have used since the last report, which is part of what the threads have used. */
    private void addAccounts(AgentReport report, boolean isCounted, List<ThreadUsage> usages)
            throws AgentReport.AgentReportException {
        List<ThreadUsage> used = accountTotals.advance(pid, report.accounts());
        if (!isCounted) return;
        Map<String, Long> types = new HashMap<>();
        for (ThreadUsage usage : used)
            types.merge(AccountKey.parse(usage.pool()).type(), usage.cpuNanos(), Long::sum);
        usages.addAll(used);
        long now = processTime.getAsLong();
        for (long sum : types.values())
            if (now >= 0) AgentReport.checkTotal("accounts since its last report", sum, now - reportedAtNanos);
    }

    private ThreadUsage usage(AgentReport.Group group, boolean isCounted, long... last) {
        long cpu = isCounted ? Math.max(0, group.cpuNanos() - last[0]) : 0;
        long user = Math.max(0, Math.min(cpu, group.userNanos() - last[1]));
        last[0] = group.cpuNanos();
        last[1] = isCounted ? last[1] + user : group.userNanos();
        int live = (int) Math.min(Integer.MAX_VALUE, group.live());
        return ThreadUsage.ofGroup(pid, new PoolKey(group.name(), ThreadKind.VIRTUAL), live)
                .cpu(cpu, user)
                .build();
    }

    /**
     * Returns whether the reading has the time of all carriers as such. Otherwise, their pools have that of the virtual
     * threads, too.
     */
    private static boolean areKnown(AgentReport report, Collection<ProcThread> threads) {
        Set<Long> tids = report.carrierTids();
        return threads.stream().noneMatch(thread -> DumpedNames.isUnknownCarrier(thread, tids));
    }

    /** Returns the states of virtual threads as of the last answer. */
    VirtualThreadCounts virtualThreads() {
        return virtualThreads;
    }

    /** Returns the named accounts as of the last answer; empty if no agent has ever reported any. */
    List<AccountUsage> accounts() {
        return accounts;
    }

    /** Returns the ids of the threads that carry virtual threads, as the JVM sees them, as of the last answer. */
    Set<Long> carriers() {
        return carriers;
    }

    /** Returns why an answer since the last call cannot be used; null if there was none. */
    String takeProblem() {
        String taken = problem;
        problem = null;
        return taken;
    }

    /** Returns the yields since the last report, by pool. Those of threads that ended before the report are unknown. */
    private Map<PoolKey, Long> yields(AgentReport report, Collection<ProcThread> threads) {
        Map<Integer, PoolKey> pools = new HashMap<>();
        for (ProcThread thread : threads) pools.put(thread.innerTid(), thread.pool());
        Map<PoolKey, Long> yields = new HashMap<>();
        Map<Integer, Long> now = new HashMap<>();
        for (AgentReport.Yielder yielder : report.yielders()) {
            now.put(yielder.tid(), yielder.yields());
            PoolKey pool = pools.get(yielder.tid());
            if (pool == null) continue;
            long last = yielders.getOrDefault(yielder.tid(), countsAllYields ? 0 : yielder.yields());
            yields.merge(pool, Math.max(0, yielder.yields() - last), Long::sum);
        }
        if (report.virtualYields() > 0)
            yields.put(VIRTUAL_YIELDS, countsAllYields ? Math.max(0, report.virtualYields() - virtualYields) : 0);
        yielders = now;
        virtualYields = report.virtualYields();
        return yields;
    }
}
