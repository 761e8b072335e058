// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.recording.PoolSeries;
import org.taskclock.monitor.recording.ThreadSeries;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** Converts series from the history to intervals, so that they can be compared like recordings. */
final class HistoryIntervals {
    private record Pool(String name, ThreadKind kind) {}

    private HistoryIntervals() {}

    /**
     * Returns one interval for each step that has data. Intervals are created on demand, because all of them together
     * take much more memory than the series. Each thread of the series has a row, and each pool has another row for its
     * remaining threads.
     *
     * @param threads null, or with another step than the pools, to not compare threads
     */
    static Iterable<Interval> of(PoolSeries pools, ThreadSeries threads) {
        boolean hasThreads = threads != null
                && threads.step().equals(pools.step())
                && threads.times().length == pools.times().length;
        List<ThreadSeries.Row> rows = hasThreads ? threads.threads() : List.of();
        return () -> IntStream.range(0, pools.times().length)
                .filter(i -> pools.totals().userNanos()[i] >= 0)
                .mapToObj(i -> interval(pools, rows, i))
                .iterator();
    }

    private static List<ThreadUsage> usages(PoolSeries pools, List<ThreadSeries.Row> threads, int i) {
        List<ThreadUsage> usages = new ArrayList<>();
        Map<Pool, long[]> listed = new HashMap<>();
        for (ThreadSeries.Row row : threads) {
            if (row.userNanos()[i] < 0) continue;
            long[] sum = listed.computeIfAbsent(new Pool(row.pool(), row.kind()), k -> new long[2]);
            sum[0] += row.userNanos()[i];
            sum[1] += row.systemNanos()[i];
            usages.add(usage(row.tid(), row.name(), row.pool(), row.kind(), row.userNanos()[i], row.systemNanos()[i]));
        }
        for (PoolSeries.Row row : pools.pools()) {
            if (row.isAccount() || row.userNanos()[i] < 0) continue;
            long[] sum = listed.getOrDefault(new Pool(row.pool(), row.kind()), new long[2]);
            long user = Math.max(0, row.userNanos()[i] - sum[0]);
            long system = Math.max(0, row.systemNanos()[i] - sum[1]);
            usages.add(usage(0, row.pool(), row.pool(), row.kind(), user, system));
        }
        return usages;
    }

    private static List<ThreadUsage> accounts(PoolSeries pools, int i) {
        return pools.pools().stream()
                .filter(row -> row.isAccount() && row.userNanos()[i] >= 0)
                .map(row -> usage(0, row.pool(), row.pool(), row.kind(), row.userNanos()[i], row.systemNanos()[i]))
                .toList();
    }

    private static ThreadUsage usage(
            int tid, String name, String pool, ThreadKind kind, long userNanos, long systemNanos) {
        return ThreadUsage.of(0, tid, name, kind)
                .pool(pool)
                .cpu(userNanos + systemNanos, userNanos)
                .build();
    }

    private static Interval interval(PoolSeries pools, List<ThreadSeries.Row> threads, int index) {
        Duration step = pools.step();
        long user = pools.totals().userNanos()[index];
        long cpu = user + Math.max(0, pools.totals().systemNanos()[index]);
        return new Interval(
                Instant.ofEpochMilli(pools.times()[index]).plus(step),
                step.toNanos(),
                0,
                "",
                "history",
                usages(pools, threads, index),
                new ProcessUsage(cpu, user, -1, 0, -1, -1, 1, 0),
                List.of(),
                List.of(),
                List.of(),
                accounts(pools, index));
    }
}
