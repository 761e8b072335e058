// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.server;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.history.PoolSeries;
import org.taskclock.history.ThreadSeries;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.Interval;
import org.taskclock.monitor.ThreadUsage;

/** Adds up the intervals of a recording to steps. An interval that is in two steps is divided between them. */
final class RecordingSeries {
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private record PoolKey(String pool, ThreadKind kind) {}

    private record ThreadKey(int tid, String name, String pool, ThreadKind kind) {}

    /** What was used in each step, in nanoseconds; negative where there is no data. */
    private final class Sums {
        private final double[] user = none();
        private final double[] system = none();
        private final double[] wait = none();
        private final double[] threads = none();
    }

    private final Instant from;
    private final Duration step;
    private final int count;
    private final Map<PoolKey, Sums> pools = new LinkedHashMap<>();
    private final Map<ThreadKey, Sums> threads = new LinkedHashMap<>();
    private final Sums process;
    private final double[] container;
    private final double[] throttled;
    private final double[] limit;

    /** Adds up the intervals that end after {@code from} and start before {@code to}. */
    RecordingSeries(Iterable<Interval> intervals, Instant from, Instant to, int maxPoints) {
        this.from = from;
        long range = Duration.between(from, to).toNanos();
        // In whole seconds, because recordings have intervals of seconds.
        long seconds = Math.max(1, (range + NANOS_PER_SECOND * maxPoints - 1) / (NANOS_PER_SECOND * maxPoints));
        step = Duration.ofSeconds(seconds);
        count = (int) Math.max(1, (range + step.toNanos() - 1) / step.toNanos());
        process = new Sums();
        container = none();
        throttled = none();
        limit = none();
        for (Interval interval : intervals) if (!interval.threads().isEmpty()) add(interval);
    }

    private double[] none() {
        double[] values = new double[count];
        Arrays.fill(values, -1);
        return values;
    }

    private void add(Interval interval) {
        double end = Duration.between(from, interval.end()).toNanos() / (double) step.toNanos();
        double length = interval.intervalNanos() / (double) step.toNanos();
        double start = end - length;
        Map<PoolKey, Integer> sizes = new LinkedHashMap<>();
        for (ThreadUsage thread : interval.threads())
            sizes.merge(new PoolKey(thread.pool(), thread.kind()), thread.threads(), Integer::sum);
        for (int i = Math.max(0, (int) Math.floor(start)); i < Math.min(count, Math.ceil(end)); i++) {
            double part = (Math.min(end, i + 1) - Math.max(start, i)) / length;
            if (part <= 0) continue;
            var totals = interval.totals();
            add(process.user, i, totals.processUserNanos(), part);
            add(process.system, i, totals.processNanos() - totals.processUserNanos(), part);
            add(container, i, totals.containerNanos(), part);
            add(throttled, i, totals.throttledNanos(), part);
            limit[i] = totals.containerCores();
            for (ThreadUsage thread : interval.threads()) {
                add(pools.computeIfAbsent(new PoolKey(thread.pool(), thread.kind()), k -> new Sums()), i, thread, part);
                if (thread.tid() == 0 || thread.cpuNanos() <= 0) continue;
                ThreadKey key = new ThreadKey(thread.tid(), thread.name(), thread.pool(), thread.kind());
                add(threads.computeIfAbsent(key, k -> new Sums()), i, thread, part);
            }
            int step = i;
            sizes.forEach((pool, size) -> {
                double[] largest = pools.get(pool).threads;
                largest[step] = Math.max(largest[step], size);
            });
        }
    }

    private static void add(Sums sums, int index, ThreadUsage thread, double part) {
        add(sums.user, index, thread.userNanos(), part);
        add(sums.system, index, thread.systemNanos(), part);
        add(sums.wait, index, thread.waitNanos(), part);
    }

    private static void add(double[] sums, int index, long nanos, double part) {
        if (nanos >= 0) sums[index] = Math.max(0, sums[index]) + nanos * part;
    }

    private static long[] rounded(double... values) {
        return Arrays.stream(values).mapToLong(Math::round).toArray();
    }

    private Instant to() {
        return from.plus(step.multipliedBy(count));
    }

    private long[] times() {
        long[] times = new long[count];
        for (int i = 0; i < count; i++)
            times[i] = from.plus(step.multipliedBy(i)).toEpochMilli();
        return times;
    }

    PoolSeries pools() {
        List<PoolSeries.Row> rows = new ArrayList<>();
        pools.forEach((key, sums) -> rows.add(new PoolSeries.Row(
                key.pool,
                key.kind,
                Arrays.stream(sums.threads).mapToInt(value -> (int) value).toArray(),
                rounded(sums.user),
                rounded(sums.system),
                rounded(sums.wait))));
        rows.sort(Comparator.comparingLong(PoolSeries.Row::cpuNanos).reversed());
        return new PoolSeries(
                from,
                to(),
                step,
                times(),
                rows,
                new PoolSeries.Totals(
                        rounded(process.user), rounded(process.system), rounded(container), rounded(throttled), limit));
    }

    ThreadSeries threads(int maxThreads) {
        List<ThreadSeries.Row> rows = new ArrayList<>();
        threads.forEach((key, sums) -> rows.add(
                new ThreadSeries.Row(key.tid, key.name, key.pool, key.kind, rounded(sums.user), rounded(sums.system))));
        rows.sort(Comparator.comparingLong(ThreadSeries.Row::cpuNanos).reversed());
        List<ThreadSeries.Row> busiest = rows.subList(0, Math.min(maxThreads, rows.size()));
        return new ThreadSeries(from, to(), step, times(), List.copyOf(busiest));
    }
}
