// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** How many threads a JVM had, started, and used over the last minute. */
public final class ThreadHistory {
    static final long SECOND = 1_000_000_000;
    private static final long WINDOW_NANOS = 61 * SECOND;
    private static final long GAP_NANOS = 3 * SECOND;
    private static final long CHURN_NANOS = 10 * SECOND;

    /**
     * An interval.
     *
     * @param threads the number of threads of each pool at its end
     * @param fresh those of them that were not there at its start
     * @param started the number of threads that started in it; -1 if unknown
     */
    record Moment(
            long at, long nanos, int live, Map<PoolKey, Integer> threads, Map<PoolKey, Integer> fresh, long started) {}

    /** A thread that runs all the time while the others of its pool do nothing. */
    record Lone(ThreadUsage thread, int poolSize, long since, long last) {}

    private final Deque<Moment> moments = new ArrayDeque<>();
    private Set<Integer> known = Set.of();
    private Map<PoolKey, Integer> idle = Map.of();
    private Map<PoolKey, Lone> lone = Map.of();
    private long now;

    /**
     * Adds an interval.
     *
     * @param now its end, as System.nanoTime
     */
    public void add(List<ThreadUsage> usages, long started, long intervalNanos, long now) {
        this.now = now;
        Map<PoolKey, Integer> threads = new HashMap<>();
        Map<PoolKey, Integer> fresh = new HashMap<>();
        Map<PoolKey, Long> cpu = new HashMap<>();
        Map<PoolKey, ThreadUsage> runners = new HashMap<>();
        Set<Integer> tids = new HashSet<>();
        idle = new HashMap<>();
        for (ThreadUsage usage : usages) {
            if (usage.tid() == 0 || (usage.kind() != ThreadKind.JAVA && usage.kind() != ThreadKind.NATIVE)) continue;
            PoolKey pool = new PoolKey(usage.pool(), usage.kind());
            tids.add(usage.tid());
            threads.merge(pool, 1, Integer::sum);
            if (!known.contains(usage.tid())) fresh.merge(pool, 1, Integer::sum);
            if (usage.cpuNanos() == 0 && usage.voluntary() <= 0) idle.merge(pool, 1, Integer::sum);
            cpu.merge(pool, usage.cpuNanos(), Long::sum);
            if (Suspect.isAlwaysRunnable(usage, intervalNanos)) runners.merge(pool, usage, (a, b) -> a);
        }
        known = tids;
        moments.add(new Moment(now, intervalNanos, tids.size(), threads, fresh, started));
        while (now - moments.peek().at > WINDOW_NANOS) moments.remove();
        Map<PoolKey, Lone> next = new HashMap<>();
        runners.forEach((pool, thread) -> {
            boolean isAlone = cpu.get(pool) - thread.cpuNanos() <= thread.cpuNanos() / 10;
            if (!isAlone || threads.get(pool) < PoolImbalance.MIN_THREADS) return;
            Lone before = lone.get(pool);
            boolean isSame = before != null && before.thread.tid() == thread.tid();
            next.put(pool, new Lone(thread, threads.get(pool), isSame ? before.since : now - intervalNanos, now));
        });
        // The kernel adds the time that a thread waited when the wait ends, which may be in a later interval.
        lone.forEach((pool, before) -> {
            if (now - before.last <= GAP_NANOS && threads.containsKey(pool)) next.putIfAbsent(pool, before);
        });
        lone = next;
    }

    /** Returns how long ago a moment was. */
    long nanosSince(long at) {
        return now - at;
    }

    /** Returns how long ago a moment was, in seconds. */
    long secondsSince(long at) {
        return Math.round(nanosSince(at) / 1e9);
    }

    /** Returns the intervals of the last minute, or of that part of it; none if less is known. */
    List<Moment> last(double minutes) {
        long window = (long) (minutes * WINDOW_NANOS);
        Moment first = moments.peek();
        if (first == null || now - first.at + first.nanos < window - 2 * SECOND) return List.of();
        return moments.stream().filter(moment -> now - moment.at <= window).toList();
    }

    /** Returns the intervals of the last ten seconds, or none if less is known. */
    List<Moment> recent() {
        Moment first = moments.peek();
        if (first == null || now - first.at + first.nanos < CHURN_NANOS) return List.of();
        return moments.stream().filter(moment -> now - moment.at < CHURN_NANOS).toList();
    }

    /** Returns the number of threads of a pool that did not run in the last interval. */
    int idleThreads(PoolKey pool) {
        return idle.getOrDefault(pool, 0);
    }

    List<Lone> lone() {
        return lone.values().stream()
                .sorted(Comparator.comparingLong(Lone::since))
                .toList();
    }
}
