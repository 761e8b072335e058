// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.taskclock.CpuTime;
import org.taskclock.ThreadClock;
import org.taskclock.ThreadSnapshot;

/** The platform threads of this process: their times, and which Java threads they are. Not thread-safe. */
final class OwnThreads {
    /** The pool for native threads in the first reading, while they may be Java threads that are ending. */
    private static final PoolKey UNIDENTIFIED = new PoolKey(PoolCounters.OTHER, ThreadKind.NATIVE);

    /**
     * Far longer than the time for which a starting or ending Java thread is known to the kernel but not to the JVM.
     */
    private static final long UNCERTAIN_NANOS = 500_000_000;

    /** Details are read for at most this many threads per reading, at 11 us each. */
    private static final int MAX_DETAILS = 100;

    final ThreadSampler<OwnThread> sampler = new ThreadSampler<>(id -> new OwnThread(id, this), thread -> {});

    /** The kernel's ids of threads that carry virtual threads, also if the JDK did not create them for that. */
    private Set<Long> carriers = Set.of();

    private final ThreadSnapshot snapshot = new ThreadSnapshot();
    private int[] tids = new int[64];
    private long[][] times = new long[3][64];
    private long startedAt;
    private boolean isFirst = true;

    /** Whether the kernel's ids are known, and therefore the files with wait times and context switches. */
    private boolean hasDetails;

    boolean hasDetails() {
        return hasDetails;
    }

    long cpuNanos(int row) {
        return times[0][row];
    }

    long userNanos(int row) {
        return times[1][row];
    }

    void assign(OwnThread thread, PoolKey key) {
        sampler.assign(thread, key, false);
    }

    boolean isCarrier(long tid) {
        return hasDetails && carriers.contains(tid);
    }

    /**
     * Reads all threads, and counts what they have used.
     *
     * @param carrierTids the kernel's ids of threads that carry virtual threads, as far as the agent reports them
     */
    void read(Set<Long> carrierTids) {
        carriers = carrierTids;
        startedAt = System.nanoTime();
        int count = snapshot.read(tids, times[0], times[1], times[2]);
        while (count > tids.length) {
            tids = new int[count + count / 4];
            times = new long[3][tids.length];
            count = snapshot.read(tids, times[0], times[1], times[2]);
        }
        hasDetails = count >= 0;
        if (!hasDetails) {
            readThroughBean();
        } else {
            sampler.read(true, Arrays.stream(tids, 0, count).asLongStream().toArray());
            for (OwnThread thread : sampler.threads()) {
                if (thread.isIdentified()) continue;
                identify();
                break;
            }
            for (OwnThread thread : sampler.threads()) {
                if (thread.hasUncounted()) thread.updateName();
                PoolKey pool = thread.pool();
                if (pool != null && pool.kind() == ThreadKind.JAVA && isCarrier(thread.id)) thread.updatePool();
            }
            sampler.readDetails(MAX_DETAILS);
        }
        sampler.count(sampler.threads());
        isFirst = false;
    }

    /** Finds the Java threads. It takes longer than a reading, so only changes of threads cause it. */
    private void identify() {
        Map<Long, Thread> javaThreads = new HashMap<>();
        for (Thread thread : platformThreads())
            javaThreads.put((long) ThreadClock.of(thread).tid(), thread);
        for (OwnThread thread : sampler.threads()) {
            Thread owner = javaThreads.get(thread.id);
            boolean isNew = thread.foundAt - startedAt >= 0;
            // A Java thread that is just starting or ending is not listed either.
            boolean isOld = startedAt - thread.foundAt >= UNCERTAIN_NANOS
                    || thread.id == ProcessHandle.current().pid();
            if (owner != null) thread.setThread(owner, !isNew);
            else thread.setNoThread(isOld, isFirst ? UNIDENTIFIED : null);
        }
    }

    /** Reads the Java threads only, because the kernel's ids are unknown. */
    private void readThroughBean() {
        Thread[] found = platformThreads();
        long[] ids = new long[found.length];
        times = new long[3][found.length];
        Map<Long, Thread> byId = new HashMap<>();
        int count = 0;
        for (Thread thread : found) {
            CpuTime time = ThreadClock.of(thread).now();
            if (time.cpuNanos() < 0) continue;
            ids[count] = thread.getId();
            times[0][count] = time.cpuNanos();
            times[1][count++] = time.userNanos();
            byId.put(thread.getId(), thread);
        }
        sampler.read(true, Arrays.copyOf(ids, count));
        for (OwnThread thread : sampler.threads()) {
            thread.setThread(byId.get(thread.id), true);
            thread.updateName();
        }
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
