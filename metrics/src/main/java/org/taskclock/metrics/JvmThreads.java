// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.util.List;
import org.taskclock.AccountUsage;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuTime;
import org.taskclock.ProcessClock;

/**
 * The CPU use of this JVM by thread pool, since it started. It has no thread of its own: {@link #usage()} takes a
 * reading when it is called, which needs no safepoint. A reading takes one system call per thread.
 *
 * <p>Wait times and context switches take two files of /proc for each thread. They are read only for threads that have
 * used 1 ms of CPU time since they were last read, and for at most the 100 busiest of these in each reading. The values
 * of other threads are part of a later reading, unless the thread ends first.
 *
 * <p>The CPU time that a thread uses between its last reading and its end, and that of threads that start and end
 * between two readings, is known only for all threads together. It is in the pool {@code (ended threads)}.
 *
 * <p>A native thread gets its own pool once it has been seen for 0.5 s: until then it may be a Java thread that is
 * ending. What it had used before is in the pool {@value PoolCounters#OTHER} if the first reading found it, else in
 * {@code (ended threads)}.
 *
 * <p>Virtual threads are listed if TaskClock's agent accounts for them. Without the agent, their CPU time is in the
 * pool of their carriers.
 *
 * <p>On the {@code mxbean} backend, only Java threads are listed, up to their last reading before they end. The total
 * of the process, wait times, and context switches are unknown.
 *
 * <p>Thread-safe.
 */
public final class JvmThreads {
    /** Calls within this time return the same reading, so that meters that are polled one by one share it. */
    private static final long MIN_INTERVAL_NANOS = 100_000_000;

    private static final long MILLISECOND = 1_000_000;

    private final PoolCounters counters;
    private final long minIntervalNanos;
    private final ProcessClock process = ProcessClock.current();
    private final AgentFigures agent = new AgentFigures();
    private final Cgroup cgroup = Cgroup.ofThisProcess();

    private final OwnThreads threads = new OwnThreads();
    private JvmUsage last;
    private long lastReadAt;

    /** Creates a reader with at most {@value PoolCounters#DEFAULT_MAX_POOLS} pools. */
    public JvmThreads() {
        this(PoolCounters.DEFAULT_MAX_POOLS);
    }

    /** Creates a reader with at most {@code maxPools} pools, see {@link PoolCounters}. */
    public JvmThreads(int maxPools) {
        this(maxPools, MIN_INTERVAL_NANOS);
    }

    JvmThreads(int maxPools, long minIntervalNanos) {
        counters = new PoolCounters(maxPools);
        this.minIntervalNanos = minIntervalNanos;
    }

    /** Takes a reading. Returns the previous one if that was less than 0.1 s ago. */
    public synchronized JvmUsage usage() {
        long start = System.nanoTime();
        if (last == null || start - lastReadAt >= minIntervalNanos) {
            last = read();
            lastReadAt = System.nanoTime();
        }
        return last;
    }

    private JvmUsage read() {
        List<PoolUsage> usages = agent.advance();
        CpuTime before = process.now();
        threads.read(agent.carriers());
        CpuTime after = process.now();
        if (before.cpuNanos() >= 0 && after.cpuNanos() >= 0) {
            // Each thread was read at some moment between the two readings of the process.
            long half = (after.cpuNanos() - before.cpuNanos()) / 2;
            threads.sampler.countEnded(before.cpuNanos() + half, half + MILLISECOND);
        }
        Counters ended = threads.sampler.takePools(after.userNanos(), pool -> usages.add(PoolUsage.of(pool)));
        if (ended.cpuNanos > 0) usages.add(PoolUsage.of(PoolKey.ENDED, 0, ended));
        counters.add(usages);
        return new JvmUsage(counters.pools(), after, agent.virtualThreads(), accounts(), cgroup.usage());
    }

    /** Takes a reading of the named accounts of all types, with a row for the rest of the process in each type. */
    public static List<AccountUsage> accounts() {
        return CpuAccounts.read().stream().flatMap(type -> type.rows().stream()).toList();
    }
}
