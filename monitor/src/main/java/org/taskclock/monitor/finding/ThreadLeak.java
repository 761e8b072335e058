// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.taskclock.metrics.PoolKey;
import org.taskclock.monitor.finding.ThreadHistory.Moment;

/** A pool whose threads become ever more, or are very many, although most of them do nothing. */
public final class ThreadLeak extends FindingKind {
    private static final int MIN_GROWTH = 20;
    private static final int MANY_THREADS = 500;

    /** The parts of a minute in each of which the pool must grow. A pool that fills up grows in the first ones only. */
    private static final int PARTS = 6;

    /** Of the pool's threads. Those of a pool that grows with its load are busy. */
    private static final double MIN_IDLE_SHARE = 0.8;

    public ThreadLeak() {
        super(
                "thread-leak",
                84,
                Source.DUMPS,
                "Threads are started and never end, or are far more than have work to do.",
                "Find out with taskclock dump PID what they wait for. Shut down executors that are no longer used,"
                        + " and limit the size of pools.");
    }

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        if (observation.details() == null) return List.of();
        ThreadHistory history = observation.details().history();
        Deque<Moment> minute = history.minute();
        if (minute.isEmpty()) return List.of();
        List<Finding> leaks = new ArrayList<>();
        minute.getLast().threads().forEach((pool, threads) -> {
            int before = minute.getFirst().threads().getOrDefault(pool, 0);
            boolean isGrowing = threads - before >= MIN_GROWTH && grows(minute, pool);
            boolean isLarge = Math.min(before, threads) >= MANY_THREADS;
            int idle = history.idleThreads(pool);
            if (!(isGrowing || isLarge) || idle < MIN_IDLE_SHARE * threads) return;
            String text = "pool \"" + pool.pool() + "\" "
                    + (isGrowing
                            ? "has grown from " + before + " to " + threads + " threads in "
                            : "has had more than " + MANY_THREADS + " threads for ")
                    + history.secondsSince(minute.getFirst().at()) + " s, and most do nothing";
            leaks.add(new Finding(
                    this,
                    0,
                    text,
                    List.of(idle + " of its " + threads + " threads have not run in the last interval")));
        });
        return leaks;
    }

    private static boolean grows(Deque<Moment> minute, PoolKey pool) {
        int part = 0;
        int last = -1;
        int i = 0;
        for (Iterator<Moment> all = minute.iterator(); all.hasNext(); i++) {
            int threads = all.next().threads().getOrDefault(pool, 0);
            if (i * PARTS / Math.max(1, minute.size() - 1) < part) continue;
            if (threads <= last) return false;
            last = threads;
            part++;
        }
        return part > PARTS;
    }

    @Override
    public Color color() {
        return Color.YELLOW;
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
