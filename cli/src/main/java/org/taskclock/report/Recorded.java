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
import org.taskclock.watch.Diagnosis;
import org.taskclock.watch.Frame;
import org.taskclock.watch.Row;
import org.taskclock.watch.Totals;

/** The frames of one process, added up. A recording of days must not need more memory than one of minutes. */
final class Recorded {
    static final int USER = 0;
    static final int SYSTEM = 1;
    /** CPU time of which it is not known whether it is user or system. */
    static final int UNSPLIT = 2;

    /** More points than this cannot be told apart on a screen. */
    private static final int POINTS = 600;

    private static final int THREADS_KEPT = 20_000;
    private static final int NOTES_KEPT = 20;
    private static final String REST = "threads that are not listed";

    /** Some frames that follow each other. */
    static final class Bucket {
        Instant end;
        int frames;
        long intervalNanos;
        long processNanos;
        long containerNanos;
        long machineNanos;
        long throttledNanos;
        final Map<String, long[]> byPool = new HashMap<>();

        /** In how many of the frames it held, by kind of diagnosis. */
        final Map<String, Integer> diagnosed = new HashMap<>();

        void add(Bucket later) {
            end = later.end;
            frames += later.frames;
            intervalNanos += later.intervalNanos;
            processNanos += later.processNanos;
            containerNanos += later.containerNanos;
            machineNanos += later.machineNanos;
            throttledNanos += later.throttledNanos;
            later.diagnosed.forEach((kind, held) -> diagnosed.merge(kind, held, Integer::sum));
            later.byPool.forEach((pool, parts) -> {
                long[] sums = byPool.computeIfAbsent(pool, p -> new long[3]);
                for (int i = 0; i < sums.length; i++) sums[i] += parts[i];
            });
        }
    }

    /** What a thread or a pool used. */
    static class Used {
        final String name;
        final Row.Kind kind;
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

        Used(String name, Row.Kind kind, int tid) {
            this.name = name;
            this.kind = kind;
            this.tid = tid;
        }

        void add(Row row) {
            cpuNanos += Math.max(row.cpuNanos(), 0);
            userNanos += Math.max(row.userNanos(), 0);
            waitNanos += Math.max(row.waitNanos(), 0);
            voluntary += Math.max(row.voluntary(), 0);
            involuntary += Math.max(row.involuntary(), 0);
            if (row.systemNanos() < 0) splitKnown = false;
            if (row.waitNanos() < 0) waitKnown = false;
            if (row.voluntary() < 0 || row.involuntary() < 0) switchesKnown = false;
        }
    }

    static final class Pool extends Used {
        final String key;
        int mostThreads;

        /** Of the frame that is being added. */
        private int threads;

        private long nanos;

        Pool(String key, String name, Row.Kind kind) {
            super(name, kind, 0);
            this.key = key;
        }

        boolean isVirtual() {
            return kind == Row.Kind.VIRTUAL;
        }
    }

    final List<Bucket> buckets = new ArrayList<>();
    final Map<String, Pool> pools = new HashMap<>();
    final Map<String, Used> threads = new HashMap<>();
    final Diagnosed diagnosed = new Diagnosed();
    final Set<String> sources = new LinkedHashSet<>();
    final Set<String> diagnoses = new TreeSet<>();
    final Set<String> notes = new LinkedHashSet<>();
    int framesPerBucket = 1;
    int pid;
    String name;
    Instant start;
    Instant end;
    long frames;
    long nanos;
    long ownNanos;
    long throttledNanos;
    long threadsSeen;
    int processors;
    double cores;
    boolean containerKnown;

    void add(Frame frame) {
        if (start == null) start = frame.end().minusNanos(frame.intervalNanos());
        pid = frame.pid();
        name = frame.name();
        end = frame.end();
        frames++;
        nanos += frame.intervalNanos();
        sources.add(frame.source());
        for (String note : frame.notes()) if (notes.size() < NOTES_KEPT) notes.add(note);
        diagnosed.add(frame);

        Bucket bucket = new Bucket();
        bucket.end = frame.end();
        bucket.frames = 1;
        bucket.intervalNanos = frame.intervalNanos();
        for (Diagnosis diagnosis : frame.diagnoses()) bucket.diagnosed.put(diagnosis.kind(), 1);
        diagnoses.addAll(bucket.diagnosed.keySet());
        totals(bucket, frame.totals());
        for (Row row : frame.rows()) row(bucket, frame, row);
        rest(bucket, frame);
        for (Pool pool : pools.values()) {
            pool.mostThreads = Math.max(pool.mostThreads, pool.threads);
            pool.peakPercent = Math.max(pool.peakPercent, frame.percent(pool.nanos));
            pool.threads = 0;
            pool.nanos = 0;
        }
        append(bucket);
        if (threads.size() > 2 * THREADS_KEPT) forgetIdle();
    }

    private void totals(Bucket bucket, Totals totals) {
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

    private void row(Bucket bucket, Frame frame, Row row) {
        String poolName = row.pool() == null || row.pool().isEmpty() ? row.name() : row.pool();
        Pool pool = pool(poolName, row.kind());
        pool.add(row);
        pool.threads += row.threads();
        pool.nanos += Math.max(row.cpuNanos(), 0);
        if (row.cpuNanos() > 0) {
            boolean split = row.systemNanos() >= 0;
            add(bucket, pool, split ? row.userNanos() : 0, split ? row.systemNanos() : 0, split ? 0 : row.cpuNanos());
        }
        if (pool.isVirtual()) return;
        Used thread = threads.computeIfAbsent(row.tid() + " " + row.javaId() + " " + row.name(), key -> {
            threadsSeen++;
            return new Used(row.name(), row.kind(), row.tid());
        });
        thread.add(row);
        thread.peakPercent = Math.max(thread.peakPercent, frame.percent(Math.max(row.cpuNanos(), 0)));
    }

    /** The process has more CPU time than its rows together if a thread ended in the interval, or rows were left out. */
    private void rest(Bucket bucket, Frame frame) {
        long[] listed = new long[3];
        bucket.byPool.forEach((key, parts) -> {
            if (!pools.get(key).isVirtual()) for (int i = 0; i < listed.length; i++) listed[i] += parts[i];
        });
        Totals totals = frame.totals();
        long cpu = totals.processNanos() - listed[USER] - listed[SYSTEM] - listed[UNSPLIT];
        if (cpu <= 0) return;
        long user = Math.min(Math.max(totals.processUserNanos() - listed[USER], 0), cpu);
        Pool pool = pool(REST, Row.Kind.NATIVE);
        pool.waitKnown = false;
        pool.switchesKnown = false;
        pool.cpuNanos += cpu;
        pool.userNanos += user;
        pool.nanos += cpu;
        add(bucket, pool, user, cpu - user, 0);
    }

    private Pool pool(String poolName, Row.Kind kind) {
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
        if (last != null && last.frames < framesPerBucket) last.add(bucket);
        else buckets.add(bucket);
        if (buckets.size() <= 2 * POINTS) return;
        framesPerBucket *= 2;
        List<Bucket> halved = new ArrayList<>();
        for (int i = 0; i < buckets.size(); i += 2) {
            Bucket first = buckets.get(i);
            if (i + 1 < buckets.size()) first.add(buckets.get(i + 1));
            halved.add(first);
        }
        buckets.clear();
        buckets.addAll(halved);
    }

    private void forgetIdle() {
        List<Map.Entry<String, Used>> byCpu = new ArrayList<>(threads.entrySet());
        byCpu.sort(Comparator.comparingLong(entry -> entry.getValue().cpuNanos));
        byCpu.subList(0, byCpu.size() - THREADS_KEPT).forEach(entry -> threads.remove(entry.getKey()));
    }

    double secondsAt(Bucket bucket) {
        return Duration.between(start, bucket.end).toNanos() / 1e9;
    }

    double seconds() {
        return nanos / 1e9;
    }

    double percent(long used) {
        return nanos == 0 ? 0 : 100.0 * used / nanos;
    }
}
