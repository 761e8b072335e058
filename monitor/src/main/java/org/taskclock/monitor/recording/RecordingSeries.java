// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.taskclock.AccountType;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ThreadUsage;

/** Aggregates the intervals of a recording into steps. An interval that spans two steps is divided between them. */
public final class RecordingSeries {
    /** The number of pools that are distinguished, as in the history. */
    public static final int MAX_POOLS = 500;

    /** The number of accounts that are distinguished, as in the history. */
    public static final int MAX_ACCOUNTS = 500;

    private static final long NANOS_PER_SECOND = 1_000_000_000;
    private static final long MIN_STEP_NANOS = 10_000_000;

    /** The name of the pool with the time of threads that started and ended between two readings. */
    public static final String UNLISTED_THREADS = "(unlisted threads)";

    private record PoolKey(String pool, ThreadKind kind) {
        static PoolKey of(ThreadUsage usage) {
            return new PoolKey(usage.pool(), usage.kind());
        }

        /** Returns the pool to which the time of further pools, or accounts of the same type, is added. */
        PoolKey rest() {
            if (kind != ThreadKind.ACCOUNT) return new PoolKey("other", ThreadKind.JAVA);
            return new PoolKey(new AccountKey(AccountKey.parse(pool).type(), AccountType.OTHER).pool(), kind);
        }
    }

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
    private final Map<PoolKey, Sums> accounts = new LinkedHashMap<>();
    private final Map<ThreadKey, Sums> threads = new LinkedHashMap<>();
    private final Sums process;
    private final double[] container;
    private final double[] throttled;
    private final double[] limit;
    private final double[] machine;
    private final Map<String, double[]> found = new TreeMap<>();

    /**
     * Adds up the intervals that end after {@code from} and start before {@code to}.
     *
     * @param maxThreads the maximum number of threads; those with the most CPU time are included
     */
    public RecordingSeries(Iterable<Interval> intervals, Instant from, Instant to, int maxPoints, int maxThreads) {
        this.from = from;
        long range = Duration.between(from, to).toNanos();
        long unit = unitNanos(intervals);
        step = Duration.ofNanos(unit * Math.max(1, (range + unit * maxPoints - 1) / (unit * maxPoints)));
        count = (int) Math.max(1, (range + step.toNanos() - 1) / step.toNanos());
        process = new Sums();
        container = none();
        throttled = none();
        limit = none();
        machine = none();
        // Finds the busiest threads first, because the columns of all threads would take much more memory.
        if (maxThreads > 0) for (ThreadKey key : busiest(intervals, maxThreads)) threads.put(key, new Sums());
        for (Interval interval : intervals) if (!interval.threads().isEmpty()) add(interval);
    }

    /** Most recordings have intervals of a second or more, and steps of whole seconds. */
    private static long unitNanos(Iterable<Interval> intervals) {
        Iterator<Interval> all = intervals.iterator();
        long first = all.hasNext() ? all.next().intervalNanos() : NANOS_PER_SECOND;
        boolean isShort = first >= MIN_STEP_NANOS && first < NANOS_PER_SECOND * 3 / 4;
        return isShort ? Math.round((double) first / MIN_STEP_NANOS) * MIN_STEP_NANOS : NANOS_PER_SECOND;
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
        boolean isAccount = key.kind == ThreadKind.ACCOUNT;
        Map<PoolKey, Sums> sums = isAccount ? accounts : pools;
        Sums known = sums.get(key);
        if (known != null) return known;
        boolean isFull = sums.size() >= (isAccount ? MAX_ACCOUNTS : MAX_POOLS);
        return sums.computeIfAbsent(isFull ? key.rest() : key, k -> new Sums());
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
        long[] unlisted = unlisted(interval);
        Map<PoolKey, Integer> sizes = new LinkedHashMap<>();
        for (ThreadUsage thread : interval.threads()) sizes.merge(PoolKey.of(thread), thread.threads(), Integer::sum);
        for (int i = Math.max(0, (int) Math.floor(start)); i < Math.min(count, Math.ceil(end)); i++) {
            double part = (Math.min(end, i + 1) - Math.max(start, i)) / length;
            if (part <= 0) continue;
            var totals = interval.totals();
            add(process.user, i, totals.processUserNanos(), part);
            add(process.system, i, totals.processNanos() - totals.processUserNanos(), part);
            add(container, i, totals.containerNanos(), part);
            add(throttled, i, totals.throttledNanos(), part);
            add(machine, i, totals.machineNanos(), part);
            limit[i] = totals.containerCores();
            for (Finding finding : interval.findings())
                add(found.computeIfAbsent(finding.kind().id(), kind -> none()), i, interval.intervalNanos(), part);
            if (unlisted[0] + unlisted[1] > 0) {
                Sums rest = pool(new PoolKey(UNLISTED_THREADS, ThreadKind.NATIVE));
                add(rest.user, i, unlisted[0], part);
                add(rest.system, i, unlisted[1], part);
            }
            for (ThreadUsage thread : interval.threads()) {
                add(pool(PoolKey.of(thread)), i, thread, part);
                Sums row = hasRow(thread) ? threads.get(ThreadKey.of(thread)) : null;
                if (row != null) add(row, i, thread, part);
            }
            for (ThreadUsage account : interval.accounts()) {
                Sums sums = pool(PoolKey.of(account));
                add(sums, i, account, part);
                sums.threads[i] = 0;
            }
            int step = i;
            sizes.forEach((pool, size) -> {
                double[] largest = pool(pool).threads;
                largest[step] = Math.max(largest[step], size);
            });
        }
    }

    /** Returns the user and system time of the process that exceeds that of its threads in the recording. */
    public static long[] unlisted(Interval interval) {
        long cpu = interval.totals().processNanos();
        long user = interval.totals().processUserNanos();
        for (ThreadUsage thread : interval.threads()) {
            if (thread.kind() == ThreadKind.VIRTUAL) continue;
            cpu -= Math.max(0, thread.cpuNanos());
            user -= Math.max(0, thread.userNanos());
        }
        user = Math.max(0, Math.min(user, cpu));
        return new long[] {user, Math.max(0, cpu - user)};
    }

    /** Without a known split, all time is user time, as on the live page. */
    private static void add(Sums sums, int index, ThreadUsage thread, double part) {
        boolean split = thread.systemNanos() >= 0;
        add(sums.user, index, split ? thread.userNanos() : thread.cpuNanos(), part);
        add(sums.system, index, split || thread.cpuNanos() < 0 ? thread.systemNanos() : 0, part);
        add(sums.wait, index, thread.waitNanos(), part);
    }

    private static void add(double[] sums, int index, long nanos, double part) {
        if (nanos >= 0) sums[index] = Math.max(0, sums[index]) + nanos * part;
    }

    private static long[] rounded(double... values) {
        return Arrays.stream(values).mapToLong(Math::round).toArray();
    }

    /** Returns the CPU time of all processes of the machine in each step; -1 where there is no data. */
    public long[] machineNanos() {
        return rounded(machine);
    }

    /** Returns how long each kind of finding lasted in each step. */
    public Map<String, long[]> foundNanos() {
        Map<String, long[]> nanos = new TreeMap<>();
        found.forEach((kind, values) -> nanos.put(kind, recorded(values)));
        return nanos;
    }

    /** Returns 0 where only something else was recorded. */
    private long[] recorded(double... values) {
        long[] nanos = rounded(values);
        for (int i = 0; i < count; i++) if (process.user[i] >= 0) nanos[i] = Math.max(0, nanos[i]);
        return nanos;
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

    /** Returns the usage of pools and named accounts, most CPU time first. */
    public PoolSeries pools() {
        List<PoolSeries.Row> rows = new ArrayList<>();
        for (Map<PoolKey, Sums> all : List.of(pools, accounts))
            all.forEach((key, sums) -> rows.add(new PoolSeries.Row(
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
        threads.forEach((key, sums) -> rows.add(new ThreadSeries.Row(
                key.tid, key.name, key.pool, key.kind, recorded(sums.user), recorded(sums.system))));
        rows.sort(Comparator.comparingLong(ThreadSeries.Row::cpuNanos).reversed());
        return new ThreadSeries(from, to(), step, times(), rows);
    }
}
