// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ThreadUsage;

/** Aggregates the intervals of a recording into steps. An interval that spans two steps is divided between them. */
public final class RecordingSeries {
    /** The number of pools that are distinguished, as in the history. */
    public static final int MAX_POOLS = 500;

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private record PoolKey(String pool, ThreadKind kind) {}

    /** The pool that the time of all further pools is added to, as in the history. */
    private static final PoolKey OTHER = new PoolKey("other", ThreadKind.JAVA);

    private record ThreadKey(int tid, String name, String pool, ThreadKind kind) {
        static ThreadKey of(ThreadUsage thread) {
            return new ThreadKey(thread.tid(), thread.name(), thread.pool(), thread.kind());
        }
    }

    /** The CPU time in each step, in nanoseconds; negative where there is no data. */
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

    /**
     * Adds up the intervals that end after {@code from} and start before {@code to}.
     *
     * @param maxThreads the maximum number of threads; those with the most CPU time are included
     */
    public RecordingSeries(Iterable<Interval> intervals, Instant from, Instant to, int maxPoints, int maxThreads) {
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
        // Finds the busiest threads first, because the columns of all threads would take much more memory.
        if (maxThreads > 0) for (ThreadKey key : busiest(intervals, maxThreads)) threads.put(key, new Sums());
        for (Interval interval : intervals) if (!interval.threads().isEmpty()) add(interval);
    }

    private List<ThreadKey> busiest(Iterable<Interval> intervals, int maxThreads) {
        Map<ThreadKey, Double> cpu = new LinkedHashMap<>();
        for (Interval interval : intervals) {
            double end = end(interval);
            double length = length(interval);
            double part = (Math.min(end, count) - Math.max(end - length, 0)) / length;
            if (part <= 0) continue;
            for (ThreadUsage thread : interval.threads())
                if (hasRow(thread)) cpu.merge(ThreadKey.of(thread), thread.cpuNanos() * part, Double::sum);
        }
        return cpu.entrySet().stream()
                .sorted(Map.Entry.<ThreadKey, Double>comparingByValue().reversed())
                .limit(maxThreads)
                .map(Map.Entry::getKey)
                .toList();
    }

    private static boolean hasRow(ThreadUsage thread) {
        return thread.tid() != 0 && thread.cpuNanos() > 0;
    }

    /** Returns the end of an interval, in steps from the start. */
    private double end(Interval interval) {
        return Duration.between(from, interval.end()).toNanos() / (double) step.toNanos();
    }

    private double length(Interval interval) {
        return interval.intervalNanos() / (double) step.toNanos();
    }

    private Sums pool(PoolKey key) {
        Sums known = pools.get(key);
        if (known != null) return known;
        return pools.computeIfAbsent(pools.size() < MAX_POOLS ? key : OTHER, k -> new Sums());
    }

    private double[] none() {
        double[] values = new double[count];
        Arrays.fill(values, -1);
        return values;
    }

    private void add(Interval interval) {
        double end = end(interval);
        double length = length(interval);
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
                add(pool(new PoolKey(thread.pool(), thread.kind())), i, thread, part);
                Sums row = hasRow(thread) ? threads.get(ThreadKey.of(thread)) : null;
                if (row != null) add(row, i, thread, part);
            }
            int step = i;
            sizes.forEach((pool, size) -> {
                double[] largest = pool(pool).threads;
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

    public PoolSeries pools() {
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

    public ThreadSeries threads() {
        List<ThreadSeries.Row> rows = new ArrayList<>();
        threads.forEach((key, sums) -> rows.add(
                new ThreadSeries.Row(key.tid, key.name, key.pool, key.kind, rounded(sums.user), rounded(sums.system))));
        rows.sort(Comparator.comparingLong(ThreadSeries.Row::cpuNanos).reversed());
        return new ThreadSeries(from, to(), step, times(), rows);
    }
}
