// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.taskclock.PoolName;

/** CPU times by pool, from readings of all threads and from the threads that ended in between. Not thread-safe. */
final class PoolTimes {
    /** The threads of further pools are counted as "(other)". */
    private static final int MAX_POOLS = 1_000;

    /**
     * The last reading of a kernel thread.
     *
     * @param id the Java id; negative if it is not a Java thread, or not listed as one yet
     * @param countedCpu the part of {@code cpu} that was added to the pool
     */
    private record Sample(String pool, long id, long cpu, long user, long countedCpu, long countedUser) {}

    /**
     * The threads of a pool that were never read before they ended. Most of them see no tick of the kernel, so only
     * their ticks together show the ratio of user to system time.
     */
    private static final class ShortLived {
        long cpu;
        long ticks;
        long userTicks;
        /** The user time that was added to the pool. */
        long user;
    }

    private final Map<String, ExitSummary.Pool> pools = new TreeMap<>();
    /** By kernel id. */
    private final Map<Integer, Sample> lastSamples = new HashMap<>();
    /** By pool. */
    private final Map<String, ShortLived> shortLived = new HashMap<>();

    Map<String, ExitSummary.Pool> pools() {
        return pools;
    }

    /**
     * Adds the time since the last call.
     *
     * @param rows a reading of all threads
     * @param ended the threads that ended between the last reading and any time after this one
     */
    void update(ThreadTable.Row[] rows, List<EndedThread> ended) {
        Set<Long> endedIds = new HashSet<>();
        Map<Integer, Long> endedNanos = new HashMap<>();
        for (EndedThread thread : ended) {
            addEnded(thread);
            endedIds.add(thread.id());
            endedNanos.merge(thread.tid(), thread.cpuNanos(), Math::max);
        }
        Set<Integer> alive = new HashSet<>();
        for (ThreadTable.Row row : rows) {
            alive.add(row.getTid());
            boolean isUnknown = row.getCpuNanos() < 0 || row.getName().equals(ThreadTable.ENDED);
            // Such a thread was read before it ended, and perhaps before it was listed as a Java thread.
            boolean hasEnded = row.getId() < 0
                    ? row.getCpuNanos() <= endedNanos.getOrDefault(row.getTid(), -1L)
                    : endedIds.contains(row.getId());
            if (!isUnknown && !hasEnded) addLive(row);
        }
        lastSamples.keySet().retainAll(alive);
        shortLived.forEach(this::splitTime);
    }

    private void splitTime(String name, ShortLived threads) {
        if (threads.ticks <= 0) return;
        long user = (long) ((double) threads.cpu * Math.min(threads.userTicks, threads.ticks) / threads.ticks);
        pools.get(name).userNanos += user - threads.user;
        threads.user = user;
    }

    private void addLive(ThreadTable.Row row) {
        Sample last = lastSamples.get(row.getTid());
        // The kernel reuses thread ids.
        if (last != null && last.cpu > row.getCpuNanos()) last = null;
        // The user time at the end of a Java thread was read in another way, which may have given more.
        long user = last == null ? row.getUserNanos() : Math.max(last.user, row.getUserNanos());
        // The main thread gets this name when main returns. It keeps its kernel id. A Java thread that is about to end
        // is no longer listed as one.
        boolean keepsPool =
                last != null && (row.getName().equals("DestroyJavaVM") || (row.getId() < 0 && last.id >= 0));
        String pool = keepsPool ? last.pool : poolName(row.getName());
        add(pool, row.getName(), row.getId(), row.getTid(), row.getCpuNanos(), user, last);
    }

    private void addEnded(EndedThread thread) {
        Sample last = lastSamples.get(thread.tid());
        if (last != null && last.id != thread.id()) {
            // Read before it was listed as a Java thread, or under the id of an earlier Java thread; or a reused id.
            boolean isSame = last.id < 0 || thread.earlierCpuNanos() > 0;
            if (!isSame || last.cpu > thread.cpuNanos()) last = null;
        }
        if (last == null && thread.earlierCpuNanos() > 0)
            last = new Sample("", thread.id(), thread.earlierCpuNanos(), thread.earlierUserNanos(), 0, 0);
        long cpu = last == null ? thread.cpuNanos() : Math.max(thread.cpuNanos(), last.cpu);
        long user = last == null ? thread.userNanos() : Math.max(thread.userNanos(), last.user);
        String pool = poolName(thread.name());
        add(pool, thread.name(), thread.id(), thread.tid(), cpu, user, last);
        if (last != null) return;
        ShortLived threads = shortLived.computeIfAbsent(pool, name -> new ShortLived());
        threads.cpu += cpu;
        threads.ticks += Math.max(0, thread.tickNanos());
        threads.userTicks += Math.max(0, thread.userTickNanos());
        threads.user += user;
    }

    /** Adds the time since the last reading of the same thread, or all its time if {@code last} is null. */
    private void add(String name, String example, long id, int tid, long cpu, long user, Sample last) {
        ExitSummary.Pool pool = pools.computeIfAbsent(name, n -> new ExitSummary.Pool());
        long moreCpu = cpu - (last == null ? 0 : last.cpu);
        long moreUser = user - (last == null ? 0 : last.user);
        boolean isInPool = last != null && last.pool.equals(name);
        boolean moves = last != null && !isInPool && last.id < 0 && id >= 0;
        if (moves || isInPool) {
            moreCpu += last.countedCpu;
            moreUser += last.countedUser;
        }
        // Nothing after this can fail, so no time is counted twice.
        lastSamples.put(tid, new Sample(name, id, cpu, user, moreCpu, moreUser));
        if (moves) remove(last);
        if (isInPool) {
            moreCpu -= last.countedCpu;
            moreUser -= last.countedUser;
        } else {
            pool.threads++;
        }
        if (pool.example == null) pool.example = example;
        pool.isJava |= id >= 0;
        pool.cpuNanos += moreCpu;
        pool.userNanos += moreUser;
    }

    /** Takes a thread out of a pool to which it never belonged. */
    private void remove(Sample sample) {
        ExitSummary.Pool pool = pools.get(sample.pool);
        pool.cpuNanos -= sample.countedCpu;
        pool.userNanos -= sample.countedUser;
        if (--pool.threads == 0) pools.remove(sample.pool);
    }

    private String poolName(String threadName) {
        String name = PoolName.of(threadName);
        return pools.containsKey(name) || pools.size() < MAX_POOLS ? name : GroupNames.OTHER;
    }
}
