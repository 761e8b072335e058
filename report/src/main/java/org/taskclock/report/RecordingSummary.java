// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingHistory;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The sums over all intervals of one process. Their size is bounded, so a recording of days needs no more memory than
 * one of minutes.
 */
final class RecordingSummary {
    static final int USER = 0;
    static final int SYSTEM = 1;
    /** CPU time without a known split into user and system time. */
    static final int UNSPLIT = 2;

    /** A screen cannot show more points. Neighbors are merged when there are twice as many. */
    private static final int MAX_POINTS = 600;

    private static final int MAX_THREADS = 20_000;
    private static final int MAX_NOTES = 20;
    private static final String UNLISTED_THREADS = "(unlisted threads)";

    /** The sums over consecutive intervals, which become one point in a chart. */
    static final class Bucket {
        Instant end;
        int intervals;
        long intervalNanos;
        long processNanos;
        long containerNanos;
        long machineNanos;
        long throttledNanos;
        /** By pool: user, system, and unsplit time. */
        final Map<String, long[]> byPool = new HashMap<>();

        /** The number of intervals with a finding, by its kind. */
        final Map<String, Integer> intervalsByKind = new HashMap<>();

        void add(Bucket later) {
            end = later.end;
            intervals += later.intervals;
            intervalNanos += later.intervalNanos;
            processNanos += later.processNanos;
            containerNanos += later.containerNanos;
            machineNanos += later.machineNanos;
            throttledNanos += later.throttledNanos;
            later.intervalsByKind.forEach((kind, count) -> intervalsByKind.merge(kind, count, Integer::sum));
            later.byPool.forEach((pool, parts) -> {
                long[] sums = byPool.computeIfAbsent(pool, p -> new long[3]);
                for (int i = 0; i < sums.length; i++) sums[i] += parts[i];
            });
        }
    }

    /** The sums of a thread or a pool. */
    static class UsageSum {
        final String name;
        final ThreadKind kind;
        final int tid;
        long cpuNanos;
        long userNanos;
        long waitNanos;
        long voluntary;
        long involuntary;
        double peakPercent;
        boolean splitKnown = true;
        boolean waitKnown = true;
        boolean switchesKnown = true;
        /** Null for a pool. */
        ColumnSums columns;

        UsageSum(String name, ThreadKind kind, int tid) {
            this.name = name;
            this.kind = kind;
            this.tid = tid;
        }

        void add(ThreadUsage usage) {
            cpuNanos += Math.max(usage.cpuNanos(), 0);
            userNanos += Math.max(usage.userNanos(), 0);
            waitNanos += Math.max(usage.waitNanos(), 0);
            voluntary += Math.max(usage.voluntary(), 0);
            involuntary += Math.max(usage.involuntary(), 0);
            if (usage.systemNanos() < 0) splitKnown = false;
            if (usage.waitNanos() < 0) waitKnown = false;
            if (usage.voluntary() < 0 || usage.involuntary() < 0) switchesKnown = false;
        }
    }

    static final class Pool extends UsageSum {
        final String key;
        int maxThreads;

        // Sums for the current interval.
        private int intervalThreads;
        private long intervalNanos;

        Pool(String key, String name, ThreadKind kind) {
            super(name, kind, 0);
            this.key = key;
        }

        boolean isVirtual() {
            return kind == ThreadKind.VIRTUAL;
        }
    }

    final List<Bucket> buckets = new ArrayList<>();
    final Map<String, Pool> pools = new HashMap<>();
    final Map<String, UsageSum> threads = new HashMap<>();
    final FindingHistory findings = new FindingHistory();
    final Set<String> sources = new LinkedHashSet<>();
    final Set<String> findingKinds = new TreeSet<>();
    final Set<String> notes = new LinkedHashSet<>();
    ThreadHeatmap heatmap;
    int intervalsPerBucket = 1;
    int pid;
    String name;
    Instant start;
    Instant end;
    long intervals;
    long nanos;
    long ownNanos;
    long throttledNanos;
    long threadsSeen;
    int processors;
    double cores;
    boolean containerKnown;

    void add(Interval interval) {
        if (start == null) {
            start = interval.end().minusNanos(interval.intervalNanos());
            heatmap = new ThreadHeatmap(start, interval.intervalNanos());
        }
        pid = interval.pid();
        name = interval.name();
        end = interval.end();
        intervals++;
        nanos += interval.intervalNanos();
        sources.add(interval.source());
        for (String note : interval.notes()) if (notes.size() < MAX_NOTES) notes.add(note);
        findings.add(interval.findings(), interval.end(), interval.intervalNanos());

        Bucket bucket = new Bucket();
        bucket.end = interval.end();
        bucket.intervals = 1;
        bucket.intervalNanos = interval.intervalNanos();
        for (Finding finding : interval.findings())
            bucket.intervalsByKind.put(finding.kind().id(), 1);
        findingKinds.addAll(bucket.intervalsByKind.keySet());
        addTotals(bucket, interval.totals());
        addToHeatmap(interval);
        for (ThreadUsage usage : interval.threads()) addThread(bucket, interval, usage);
        addUnlistedThreads(bucket, interval);
        for (Pool pool : pools.values()) {
            pool.maxThreads = Math.max(pool.maxThreads, pool.intervalThreads);
            pool.peakPercent = Math.max(pool.peakPercent, interval.percent(pool.intervalNanos));
            pool.intervalThreads = 0;
            pool.intervalNanos = 0;
        }
        append(bucket);
        if (threads.size() > 2 * MAX_THREADS) removeIdleThreads();
    }

    private void addToHeatmap(Interval interval) {
        long cpu = 0;
        long user = 0;
        for (ThreadUsage usage : interval.threads()) {
            if (usage.kind() == ThreadKind.VIRTUAL) continue;
            cpu += Math.max(usage.cpuNanos(), 0);
            user += Math.max(usage.userNanos(), 0);
        }
        heatmap.add(interval, cpu, user);
    }

    private void addTotals(Bucket bucket, ProcessUsage totals) {
        bucket.processNanos = Math.max(totals.processNanos(), 0);
        bucket.containerNanos = Math.max(totals.containerNanos(), 0);
        bucket.machineNanos = Math.max(totals.machineNanos(), 0);
        bucket.throttledNanos = Math.max(totals.throttledNanos(), 0);
        containerKnown |= totals.containerNanos() >= 0;
        throttledNanos += bucket.throttledNanos;
        ownNanos += Math.max(totals.ownNanos(), 0);
        processors = totals.processors();
        cores = totals.containerCores();
    }

    private void addThread(Bucket bucket, Interval interval, ThreadUsage usage) {
        String poolName = usage.pool() == null || usage.pool().isEmpty() ? usage.name() : usage.pool();
        Pool pool = pool(poolName, usage.kind());
        pool.add(usage);
        pool.intervalThreads += usage.threads();
        pool.intervalNanos += Math.max(usage.cpuNanos(), 0);
        if (usage.cpuNanos() > 0) {
            boolean split = usage.systemNanos() >= 0;
            add(
                    bucket,
                    pool,
                    split ? usage.userNanos() : 0,
                    split ? usage.systemNanos() : 0,
                    split ? 0 : usage.cpuNanos());
        }
        if (pool.isVirtual()) return;
        UsageSum thread = threads.computeIfAbsent(usage.tid() + " " + usage.javaId() + " " + usage.name(), key -> {
            threadsSeen++;
            UsageSum added = new UsageSum(usage.name(), usage.kind(), usage.tid());
            added.columns = heatmap.newThread();
            return added;
        });
        thread.add(usage);
        heatmap.add(interval, thread.columns, usage);
        thread.peakPercent = Math.max(thread.peakPercent, interval.percent(Math.max(usage.cpuNanos(), 0)));
    }

    /**
     * Adds the CPU time of the process that exceeds that of the listed threads. This happens if a thread ended in the
     * interval or is missing from the list.
     */
    private void addUnlistedThreads(Bucket bucket, Interval interval) {
        long[] listed = new long[3];
        bucket.byPool.forEach((key, parts) -> {
            if (!pools.get(key).isVirtual()) for (int i = 0; i < listed.length; i++) listed[i] += parts[i];
        });
        ProcessUsage totals = interval.totals();
        long cpu = totals.processNanos() - listed[USER] - listed[SYSTEM] - listed[UNSPLIT];
        if (cpu <= 0) return;
        long user = Math.min(Math.max(totals.processUserNanos() - listed[USER], 0), cpu);
        Pool pool = pool(UNLISTED_THREADS, ThreadKind.NATIVE);
        pool.waitKnown = false;
        pool.switchesKnown = false;
        pool.cpuNanos += cpu;
        pool.userNanos += user;
        pool.intervalNanos += cpu;
        add(bucket, pool, user, cpu - user, 0);
    }

    private Pool pool(String poolName, ThreadKind kind) {
        return pools.computeIfAbsent(kind + " " + poolName, key -> new Pool(key, poolName, kind));
    }

    private static void add(Bucket bucket, Pool pool, long user, long system, long unsplit) {
        long[] parts = bucket.byPool.computeIfAbsent(pool.key, key -> new long[3]);
        parts[USER] += user;
        parts[SYSTEM] += system;
        parts[UNSPLIT] += unsplit;
    }

    private void append(Bucket bucket) {
        Bucket last = buckets.isEmpty() ? null : buckets.get(buckets.size() - 1);
        if (last != null && last.intervals < intervalsPerBucket) last.add(bucket);
        else buckets.add(bucket);
        if (buckets.size() <= 2 * MAX_POINTS) return;
        intervalsPerBucket *= 2;
        List<Bucket> halved = new ArrayList<>();
        for (int i = 0; i < buckets.size(); i += 2) {
            Bucket first = buckets.get(i);
            if (i + 1 < buckets.size()) first.add(buckets.get(i + 1));
            halved.add(first);
        }
        buckets.clear();
        buckets.addAll(halved);
    }

    private void removeIdleThreads() {
        List<Map.Entry<String, UsageSum>> byCpu = new ArrayList<>(threads.entrySet());
        byCpu.sort(Comparator.comparingLong(entry -> entry.getValue().cpuNanos));
        byCpu.subList(0, byCpu.size() - MAX_THREADS).forEach(entry -> threads.remove(entry.getKey()));
    }

    double secondsAt(Bucket bucket) {
        return Duration.between(start, bucket.end).toNanos() / 1e9;
    }

    double seconds() {
        return nanos / 1e9;
    }

    double percent(long cpuNanos) {
        return nanos == 0 ? 0 : 100.0 * cpuNanos / nanos;
    }
}
