// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.taskclock.CpuTime;
import org.taskclock.ProcessClock;
import org.taskclock.ThreadClock;
import org.taskclock.ThreadSnapshot;

/**
 * The CPU use of this JVM by thread pool, since it started. It has no thread of its own: {@link #usage()} takes a
 * reading when it is called, which needs no safepoint. A reading takes one system call per thread.
 *
 * <p>Wait times and context switches take two files of /proc for each thread. They are read only for threads that have
 * used 1 ms of CPU time since they were last read, and for at most the 100 busiest of these in each reading. The values
 * of other threads are part of a later reading, unless the thread ends first.
 *
 * <p>The CPU time that a thread uses between its last reading and its end, and that of threads that start and end
 * between two readings, is known only for all threads together. It is in the pool {@value #ENDED}.
 *
 * <p>A native thread gets its own pool once it has been seen for 0.5 s: until then it may be a Java thread that is
 * ending. What it had used before is in the pool {@value PoolCounters#OTHER} if the first reading found it, else in
 * {@value #ENDED}.
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
    /** The pool of CPU time that belongs to no thread that could be read. */
    public static final String ENDED = "(ended threads)";

    /** The pool for native threads in the first reading, while they may be Java threads that are ending. */
    private static final PoolUsage.Key UNIDENTIFIED = new PoolUsage.Key(PoolCounters.OTHER, ThreadKind.NATIVE);

    /** Calls within this time return the same reading, so that meters that are polled one by one share it. */
    private static final long MIN_INTERVAL_NANOS = 100_000_000;

    private static final long MILLISECOND = 1_000_000;

    /**
     * Far longer than the time for which a starting or ending Java thread is known to the kernel but not to the JVM.
     */
    private static final long UNCERTAIN_NANOS = 500 * MILLISECOND;

    /** Wait times and context switches are read for at most this many threads per reading, at 11 us each. */
    private static final int MAX_COUNTERS = 100;

    private final PoolCounters counters;
    private final long minIntervalNanos;
    private final ThreadSnapshot snapshot = new ThreadSnapshot();
    private final ProcessClock process = ProcessClock.current();
    private final AgentFigures agent = new AgentFigures();
    private final Cgroup cgroup = Cgroup.ofThisProcess();

    /** By kernel id; on the mxbean backend by Java id. */
    private final Map<Long, OwnThread> threads = new HashMap<>();

    private int[] tids = new int[64];
    private long[][] times = new long[3][64];

    private final Map<PoolUsage.Key, OwnPool> pools = new HashMap<>();
    private long readings;

    private long readingStart;

    /** Whether the last reading found threads that are new, or whose pool is not known yet. */
    private boolean hasYoungThreads;

    /** CPU time that was added to pools, other than that of {@link #threads}. */
    private long endedNanos;

    /** CPU time since the last reading of threads whose pool is not known yet. */
    private long pendingNanos;

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
            last = read(start);
            lastReadAt = System.nanoTime();
        }
        return last;
    }

    private JvmUsage read(long start) {
        CpuTime before = process.now();
        readings++;
        readingStart = start;
        int count = readSnapshot();
        if (count < 0) readThroughBean();
        else readRows(count);
        removeEnded();
        List<PoolUsage> usages = new ArrayList<>();
        for (Iterator<OwnPool> all = pools.values().iterator(); all.hasNext(); ) {
            PoolUsage usage = all.next().take();
            usages.add(usage);
            if (usage.threads() == 0) all.remove();
        }
        CpuTime after = process.now();
        addEnded(before, after, usages);
        usages.addAll(agent.advance());
        counters.add(usages);
        return new JvmUsage(counters.pools(), after, cgroup.usage());
    }

    /** Returns the number of threads that were read; -1 on the mxbean backend. */
    private int readSnapshot() {
        int count = snapshot.read(tids, times[0], times[1], times[2]);
        while (count > tids.length) {
            tids = new int[count + count / 4];
            times = new long[3][tids.length];
            count = snapshot.read(tids, times[0], times[1], times[2]);
        }
        return count;
    }

    private void readRows(int count) {
        boolean isIdentified = !hasYoungThreads;
        OwnThread[] rows = new OwnThread[count];
        for (int i = 0; i < count; i++) {
            rows[i] = thread(tids[i], times[0][i]);
            isIdentified &= rows[i].lastSeen > 0 && !rows[i].hasEnded();
        }
        if (!isIdentified) identify(rows);
        pendingNanos = 0;
        for (int i = 0; i < count; i++) {
            if (rows[i].hasPool()) rows[i].advance(times[0][i], times[1][i], true);
            else pendingNanos += rows[i].skip(times[0][i], times[1][i]);
        }
        readCounters(rows);
    }

    /** Reads wait times and context switches of the threads that have used most CPU time since they were read. */
    private void readCounters(OwnThread... rows) {
        List<OwnThread> due = new ArrayList<>();
        for (OwnThread row : rows) if (row.hasPool() && row.isDue(readings)) due.add(row);
        if (due.size() > MAX_COUNTERS)
            due.sort(Comparator.comparingLong(OwnThread::cpuNanosSinceCounters).reversed());
        for (int i = 0; i < Math.min(MAX_COUNTERS, due.size()); i++) due.get(i).readCounters(readings);
    }

    /** Finds the Java threads among the rows. It takes longer than a reading, so only changes of threads cause it. */
    private void identify(OwnThread... rows) {
        Map<Integer, Thread> javaThreads = new HashMap<>();
        for (Thread thread : platformThreads())
            javaThreads.put(ThreadClock.of(thread).tid(), thread);
        hasYoungThreads = false;
        for (int i = 0; i < rows.length; i++) {
            Thread owner = javaThreads.get(tids[i]);
            if (owner != null) rows[i].setThread(owner);
            // A Java thread that is just starting or ending is not listed either.
            else rows[i].setNoThread(isUncertain(rows[i], tids[i]), readings == 1 ? UNIDENTIFIED : null);
            hasYoungThreads |= rows[i].lastSeen == 0 || !rows[i].isIdentified();
            rows[i].lastSeen = readings;
        }
    }

    private boolean isUncertain(OwnThread row, int tid) {
        return readingStart - row.foundAt < UNCERTAIN_NANOS
                && tid != ProcessHandle.current().pid();
    }

    private void readThroughBean() {
        for (Thread thread : platformThreads()) {
            CpuTime time = ThreadClock.of(thread).now();
            if (time.cpuNanos() < 0) continue;
            OwnThread known = thread(thread.getId(), time.cpuNanos());
            known.setThread(thread);
            known.lastSeen = readings;
            known.advance(time.cpuNanos(), time.userNanos(), false);
        }
    }

    private OwnThread thread(long id, long cpuNanos) {
        OwnThread known = threads.get(id);
        if (known != null && cpuNanos < known.cpuNanos) { // the kernel has reused the id
            endedNanos += known.cpuNanos;
            known = null;
        }
        if (known == null) {
            known = new OwnThread(id, readings, readingStart, key -> pools.computeIfAbsent(key, OwnPool::new));
            threads.put(id, known);
        } else {
            known.lastSeen = readings;
        }
        return known;
    }

    private void removeEnded() {
        for (Iterator<OwnThread> all = threads.values().iterator(); all.hasNext(); ) {
            OwnThread thread = all.next();
            if (thread.lastSeen == readings) continue;
            endedNanos += thread.cpuNanos;
            all.remove();
        }
    }

    /** Adds the CPU time of the process that belongs to no pool, unless it is within the reading's margin of error. */
    private void addEnded(CpuTime before, CpuTime after, List<PoolUsage> usages) {
        if (before.cpuNanos() < 0 || after.cpuNanos() < 0) return;
        long process = before.cpuNanos() + (after.cpuNanos() - before.cpuNanos()) / 2;
        long unread = process - endedNanos;
        for (OwnThread thread : threads.values()) unread -= thread.cpuNanos;
        // Each thread was read at some moment between the two readings of the process.
        long error = (after.cpuNanos() - before.cpuNanos()) / 2;
        if (unread <= error + MILLISECOND) unread = 0;
        endedNanos += unread;
        long ended = unread + pendingNanos;
        if (ended == 0) return;
        long user = 0;
        for (PoolUsage usage : usages) user += usage.userNanos();
        long lastUser = last == null ? 0 : last.process().userNanos();
        long endedUser = Math.max(0, Math.min(ended, after.userNanos() - lastUser - user));
        usages.add(new PoolUsage(ENDED, ThreadKind.NATIVE, 0, endedUser, ended - endedUser, -1, -1, -1, -1));
    }

    private static Thread[] platformThreads() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) root = root.getParent();
        Thread[] found = new Thread[root.activeCount() + 16];
        int count;
        while ((count = root.enumerate(found, true)) == found.length) found = new Thread[2 * found.length];
        return Arrays.copyOf(found, count);
    }
}
