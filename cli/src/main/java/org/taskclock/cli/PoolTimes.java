// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.Counters;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.EndedPool;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The CPU time of each pool since its threads started: that of its live threads, including those that the table hides,
 * and of those that have ended. Virtual threads are counted by their carriers.
 */
final class PoolTimes {
    /**
     * The CPU time of a pool.
     *
     * @param totalNanos -1 if unknown
     * @param watchedNanos the part since watching began; -1 if unknown
     * @param ended the number of threads that have ended since then
     */
    record Times(long totalNanos, long watchedNanos, int ended) {
        static final Times NONE = new Times(-1, -1, 0);

        private Times plus(Times other) {
            return new Times(
                    Counters.sum(totalNanos, other.totalNanos),
                    Counters.sum(watchedNanos, other.watchedNanos),
                    ended + other.ended);
        }
    }

    private final Map<String, Times> byPool = new HashMap<>();

    PoolTimes(List<Interval> intervals, ViewState view) {
        for (Interval interval : intervals) {
            for (ThreadUsage thread : interval.threads()) {
                if (thread.kind() == ThreadKind.VIRTUAL || !view.matchesFilter(thread)) continue;
                String key = TableModel.poolKey(thread.pid(), thread.kind(), thread.pool());
                add(key, new Times(thread.totalNanos(), thread.watchedNanos(), 0));
            }
            for (EndedPool pool : interval.endedPools()) {
                if (!view.matchesFilter(pool.pool())) continue;
                String key = TableModel.poolKey(interval.pid(), pool.kind(), pool.pool());
                add(key, new Times(pool.totalNanos(), pool.watchedNanos(), pool.threads()));
            }
        }
    }

    private void add(String key, Times times) {
        byPool.merge(key, times, Times::plus);
    }

    Times of(String key) {
        return byPool.getOrDefault(key, Times.NONE);
    }
}
