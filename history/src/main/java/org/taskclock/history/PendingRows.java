// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.taskclock.CpuTime;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** Rows that have not been written yet. Not thread-safe. */
final class PendingRows {
    /** If rows cannot be written, the oldest are dropped beyond this number: about five minutes of 50 busy JVMs. */
    static final int MAX_ROWS = 200_000;

    private final SeriesKeys keys;
    private final Map<Long, Row> pools = new HashMap<>();
    private final Map<Long, Row> threads = new HashMap<>();
    private final Map<Long, Row> processes = new HashMap<>();

    /** The last second of the latest sample; {@code Integer.MIN_VALUE} if there is none. */
    private int newestSecond = Integer.MIN_VALUE;

    /** The first second of the samples since the last transaction; {@code Integer.MAX_VALUE} if there is none. */
    private int oldestSecond = Integer.MAX_VALUE;

    PendingRows(SeriesKeys keys) {
        this.keys = keys;
    }

    /** The rows of a transaction. */
    record Batch(List<Row> pools, List<Row> threads, List<Row> processes) {
        boolean isEmpty() {
            return pools.isEmpty() && threads.isEmpty() && processes.isEmpty();
        }
    }

    int newestSecond() {
        return newestSecond;
    }

    int oldestSecond() {
        return oldestSecond;
    }

    void resetOldestSecond() {
        oldestSecond = Integer.MAX_VALUE;
    }

    void add(HistorySample sample) {
        IntervalSplit split = new IntervalSplit(sample.end(), sample.intervalNanos());
        int last = split.firstSecond + split.seconds - 1;
        // The clock was set; the skipped time was not recorded.
        if (newestSecond != Integer.MIN_VALUE && Math.abs(last - newestSecond) > HistoryWriter.MAX_GAP_SECONDS)
            oldestSecond = Integer.MAX_VALUE;
        newestSecond = last;
        oldestSecond = Math.min(oldestSecond, split.firstSecond);
        SeriesKeys.Jvm jvm = keys.jvm(sample.jvm(), split.firstSecond, newestSecond + 1);
        for (ThreadUsage usage : jvm.ownTime.of(sample.pools())) {
            if (usage.cpuNanos() > 0) add(pools, split, jvm.id, keys.pool(jvm, usage), usage);
        }
        for (ThreadUsage usage : sample.threads()) {
            if (usage.cpuNanos() > 0) add(threads, split, jvm.id, keys.thread(jvm, usage), usage);
        }
        addProcess(split, jvm.id, sample.process(), sample.container());
    }

    private static void add(Map<Long, Row> rows, IntervalSplit split, int jvm, int series, ThreadUsage usage) {
        if (series == 0) return;
        long user = OwnTime.user(usage);
        for (int i = 0; i < split.seconds; i++) {
            long userPart = split.part(user, i);
            long systemPart = split.part(usage.cpuNanos() - user, i);
            if (userPart + systemPart == 0) continue;
            Row row = row(rows, split.firstSecond + i, jvm, series);
            row.userNanos += userPart;
            row.systemNanos += systemPart;
            row.waitNanos = Row.sum(row.waitNanos, split.part(usage.waitNanos(), i));
            row.threads = Math.max(row.threads, usage.threads());
        }
    }

    private void addProcess(IntervalSplit split, int jvm, CpuTime process, JvmUsage.ContainerUsage container) {
        long user = process.isKnown() ? process.userNanos() : 0;
        long system = process.isKnown() ? process.systemNanos() : 0;
        long throttled = container == null ? -1 : container.throttledNanos();
        if (user + system <= 0 && throttled <= 0) return;
        for (int i = 0; i < split.seconds; i++) {
            Row row = row(processes, split.firstSecond + i, jvm, 0);
            row.userNanos += split.part(user, i);
            row.systemNanos += split.part(system, i);
            if (container == null) continue;
            row.containerNanos = Row.sum(row.containerNanos, split.part(container.cpuNanos(), i));
            row.throttledNanos = Row.sum(row.throttledNanos, split.part(throttled, i));
            row.limit = container.limit();
        }
    }

    private static Row row(Map<Long, Row> rows, int time, int jvm, int series) {
        long key = (long) (series == 0 ? jvm : series) << 32 | time;
        return rows.computeIfAbsent(key, k -> new Row(time, jvm, series));
    }

    /**
     * Returns the rows to write, which remain here until {@link #remove}. Excludes the newest second, because it may
     * receive more samples.
     */
    Batch complete() {
        return batch(newestSecond);
    }

    /** Returns all rows. */
    Batch all() {
        return batch(Integer.MIN_VALUE);
    }

    private Batch batch(int excluded) {
        return new Batch(
                sorted(pools.values(), excluded),
                sorted(threads.values(), excluded),
                sorted(processes.values(), excluded));
    }

    private static List<Row> sorted(Collection<Row> rows, int excluded) {
        List<Row> sorted = new ArrayList<>(rows.size());
        for (Row row : rows) if (row.time != excluded) sorted.add(row);
        sort(sorted);
        return sorted;
    }

    private static void sort(List<Row> rows) {
        rows.sort((a, b) -> {
            int order = Integer.compare(a.time, b.time);
            if (order == 0) order = Integer.compare(a.jvm, b.jvm);
            return order == 0 ? Integer.compare(a.series, b.series) : order;
        });
    }

    /** Removes rows that have been written. */
    void remove(Batch batch) {
        pools.values().removeAll(identity(batch.pools));
        threads.values().removeAll(identity(batch.threads));
        processes.values().removeAll(identity(batch.processes));
    }

    /** Returns a set that finds rows quickly. Rows are compared by identity, because they do not implement equals. */
    private static Set<Row> identity(List<Row> rows) {
        return new HashSet<>(rows);
    }

    /** Restores rows that were removed but could not be written. */
    void addBack(Batch batch) {
        batch.pools.forEach(row -> row(pools, row.time, row.jvm, row.series).add(row));
        batch.threads.forEach(row -> row(threads, row.time, row.jvm, row.series).add(row));
        batch.processes.forEach(
                row -> row(processes, row.time, row.jvm, row.series).add(row));
    }

    /** Drops the oldest rows beyond the limit and returns how many. */
    int dropExcess() {
        int dropped = 0;
        for (Map<Long, Row> rows : List.of(threads, pools, processes)) {
            int excess = rows.size() - MAX_ROWS / 3;
            if (excess <= 0) continue;
            List<Row> oldest = new ArrayList<>(rows.values());
            sort(oldest);
            int limit = oldest.get(excess - 1).time;
            for (Iterator<Row> all = rows.values().iterator(); all.hasNext(); ) {
                if (all.next().time > limit) continue;
                all.remove();
                dropped++;
            }
        }
        return dropped;
    }
}
