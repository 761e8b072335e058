// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.metrics.PoolKey;
import org.taskclock.monitor.finding.ThreadHistory.Moment;

/** A pool whose threads become ever more, or are very many, although most of them do nothing. */
public final class ThreadLeak extends FindingKind {
    private static final int MIN_GROWTH = 20;
    /** In half a minute. */
    private static final int MIN_FAST_GROWTH = 100;

    private static final int MANY_THREADS = 500;

    /**
     * The parts of a minute, or half of one, in each of which it must grow. One that fills up grows in the first only.
     */
    private static final int PARTS = 6;

    /** Of the pool's threads. Those of a pool that grows with its load are busy. */
    private static final double MIN_IDLE_SHARE = 0.8;

    public ThreadLeak() {
        super(
                "thread-leak",
                84,
                Color.YELLOW,
                Source.DUMPS,
                "Threads are started and never end, or are far more than have work to do.",
                "Find out with taskclock dump PID what they wait for. Shut down executors that are no longer used,"
                        + " and limit the size of pools.");
    }

    /** One is enough, because it takes half a minute or more. */
    @Override
    public int minIntervals() {
        return 1;
    }

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        if (observation.details() == null) return List.of();
        ThreadHistory history = observation.details().history();
        List<Moment> minute = history.last(1);
        List<Moment> half = history.last(0.5);
        if (half.isEmpty()) return List.of();
        List<Finding> leaks = new ArrayList<>();
        half.get(half.size() - 1).threads().forEach((pool, threads) -> {
            int idle = history.idleThreads(pool);
            if (idle < MIN_IDLE_SHARE * threads) return;
            boolean isGrowing = growth(minute, pool) >= MIN_GROWTH;
            boolean isGrowingFast = !isGrowing && growth(half, pool) >= MIN_FAST_GROWTH;
            boolean isLarge = !minute.isEmpty() && Math.min(threads(minute.get(0), pool), threads) >= MANY_THREADS;
            if (!isGrowing && !isGrowingFast && !isLarge) return;
            List<Moment> window = isGrowingFast ? half : minute;
            Moment first = window.get(0);
            String text = "pool \"" + pool.pool() + "\" "
                    + (isGrowing || isGrowingFast
                            ? "has grown from " + threads(first, pool) + " to " + threads + " threads in "
                            : "has had more than " + MANY_THREADS + " threads for ")
                    + history.secondsSince(first.at()) + " s, and most do nothing";
            leaks.add(new Finding(
                            this,
                            0,
                            text,
                            List.of(idle + " of its " + threads + " threads have not run in the last interval"))
                    .lasting(history.nanosSince(begin(window, pool)), observation.intervalNanos()));
        });
        return leaks;
    }

    private static int threads(Moment moment, PoolKey pool) {
        return moment.threads().getOrDefault(pool, 0);
    }

    /** Returns the time after which a pool grew; the first one if it did not. */
    private static long begin(List<Moment> window, PoolKey pool) {
        Moment begin = window.get(0);
        int threads = threads(begin, pool);
        if (threads(window.get(window.size() - 1), pool) <= threads) return begin.at();
        for (Moment moment : window) {
            if (threads(moment, pool) > threads) break;
            begin = moment;
        }
        return begin.at();
    }

    /** Returns by how many threads a pool has grown, if it has grown in each part of the window; else 0. */
    private static int growth(List<Moment> window, PoolKey pool) {
        if (window.isEmpty()) return 0;
        int part = 0;
        int last = -1;
        for (int i = 0; i < window.size(); i++) {
            if (i * PARTS / Math.max(1, window.size() - 1) < part) continue;
            int threads = threads(window.get(i), pool);
            if (threads <= last) return 0;
            last = threads;
            part++;
        }
        return part > PARTS ? last - threads(window.get(0), pool) : 0;
    }

    @Override
    public List<Alert> alerts() {
        return List.of(new Alert(
                "TaskClockThreadLeak",
                30,
                Alert.Severity.INFO,
                "delta(taskclock_threads{taskclock_pool_kind=~\"java|native\"}[30m]) > 100",
                Alert.POOL + "has grown by {{ $value | humanize }} threads in 30 minutes",
                ""));
    }
}
