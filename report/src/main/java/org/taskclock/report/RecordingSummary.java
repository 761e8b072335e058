// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.finding.FindingHistory;
import org.taskclock.monitor.recording.RecordingSeries;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The sums over all intervals of one process. Their size is bounded, so a recording of days needs no more memory than
 * one of minutes.
 */
final class RecordingSummary {
    private static final int MAX_THREADS = 20_000;
    private static final int MAX_NOTES = 20;

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
        /** When the interval with the peak began. */
        Instant peak;

        boolean splitKnown = true;
        boolean waitKnown = true;
        boolean switchesKnown = true;

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

        /** Adds the CPU time of an interval, if it is the highest so far. */
        void peak(Interval interval, long nanos) {
            double percent = interval.percent(nanos);
            if (percent <= peakPercent) return;
            peakPercent = percent;
            peak = interval.end().minusNanos(interval.intervalNanos());
        }
    }

    static final class Pool extends UsageSum {
        int maxThreads;

        // Sums for the current interval.
        private int intervalThreads;
        private long intervalNanos;

        Pool(String name, ThreadKind kind) {
            super(name, kind, 0);
        }
    }

    final Map<String, Pool> pools = new HashMap<>();
    final Map<String, UsageSum> threads = new HashMap<>();
    final FindingHistory findings = new FindingHistory();
    final Set<String> sources = new LinkedHashSet<>();
    final Set<String> notes = new LinkedHashSet<>();
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
        if (start == null) start = interval.end().minusNanos(interval.intervalNanos());
        pid = interval.pid();
        name = interval.name();
        // The system's clock may have been set back.
        if (end == null || interval.end().isAfter(end)) end = interval.end();
        intervals++;
        nanos += interval.intervalNanos();
        sources.add(interval.source());
        for (String note : interval.notes()) if (notes.size() < MAX_NOTES) notes.add(note);
        findings.add(interval.findings(), interval.end(), interval.intervalNanos());

        addTotals(interval.totals());
        for (ThreadUsage usage : interval.threads()) addThread(interval, usage);
        addUnlistedThreads(interval);
        for (Pool pool : pools.values()) {
            pool.maxThreads = Math.max(pool.maxThreads, pool.intervalThreads);
            pool.peak(interval, pool.intervalNanos);
            pool.intervalThreads = 0;
            pool.intervalNanos = 0;
        }
        if (threads.size() > 2 * MAX_THREADS) removeIdleThreads();
    }

    private void addTotals(ProcessUsage totals) {
        containerKnown |= totals.containerNanos() >= 0;
        throttledNanos += Math.max(totals.throttledNanos(), 0);
        ownNanos += Math.max(totals.ownNanos(), 0);
        processors = totals.processors();
        cores = totals.containerCores();
    }

    private void addThread(Interval interval, ThreadUsage usage) {
        String poolName = usage.pool() == null || usage.pool().isEmpty() ? usage.name() : usage.pool();
        Pool pool = pool(poolName, usage.kind());
        pool.add(usage);
        pool.intervalThreads += usage.threads();
        pool.intervalNanos += Math.max(usage.cpuNanos(), 0);
        if (usage.kind() == ThreadKind.VIRTUAL) return;
        UsageSum thread = threads.computeIfAbsent(usage.tid() + " " + usage.javaId() + " " + usage.name(), key -> {
            threadsSeen++;
            return new UsageSum(usage.name(), usage.kind(), usage.tid());
        });
        thread.add(usage);
        thread.peak(interval, Math.max(usage.cpuNanos(), 0));
    }

    /**
     * Adds the CPU time of the process that exceeds that of the listed threads. This happens if a thread ended in the
     * interval or is missing from the list.
     */
    private void addUnlistedThreads(Interval interval) {
        long[] unlisted = RecordingSeries.unlisted(interval);
        if (unlisted[0] + unlisted[1] <= 0) return;
        Pool pool = pool(RecordingSeries.UNLISTED_THREADS, ThreadKind.NATIVE);
        pool.waitKnown = false;
        pool.switchesKnown = false;
        pool.cpuNanos += unlisted[0] + unlisted[1];
        pool.userNanos += unlisted[0];
        pool.intervalNanos += unlisted[0] + unlisted[1];
    }

    private Pool pool(String poolName, ThreadKind kind) {
        return pools.computeIfAbsent(kind + " " + poolName, key -> new Pool(poolName, kind));
    }

    private void removeIdleThreads() {
        List<Map.Entry<String, UsageSum>> byCpu = new ArrayList<>(threads.entrySet());
        byCpu.sort(Comparator.comparingLong(entry -> entry.getValue().cpuNanos));
        byCpu.subList(0, byCpu.size() - MAX_THREADS).forEach(entry -> threads.remove(entry.getKey()));
    }

    double seconds() {
        return nanos / 1e9;
    }

    double percent(long cpuNanos) {
        return nanos == 0 ? 0 : 100.0 * cpuNanos / nanos;
    }
}
