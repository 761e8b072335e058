// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Compares the CPU use of pools, threads, and named accounts in two recordings. Whether a difference is significant
 * depends on the variation within each recording. Since adjacent intervals are similar, the intervals of a recording
 * are grouped into up to twenty batches, and the standard error of the mean is estimated from the means of the batches.
 */
public final class Comparison {
    /**
     * Student's t by degrees of freedom, two-sided, at the 0.1 % level, because dozens of pools are compared at once.
     */
    private static final double[] STUDENT_T = {
        Double.NaN,
        636.6,
        31.6,
        12.9,
        8.61,
        6.87,
        5.96,
        5.41,
        5.04,
        4.78,
        4.59,
        4.44,
        4.32,
        4.22,
        4.14,
        4.07,
        4.01,
        3.97,
        3.92,
        3.88
    };

    private static final int MAX_BATCHES = 20;

    /** The scope of a line of the comparison. */
    public enum Kind {
        PROCESS,
        POOL,
        THREAD,
        /** A named account, whose CPU use is also in that of the threads. */
        ACCOUNT
    }

    /**
     * The identity of the process, or of a pool, thread, or account, in both recordings; {@code threadKind} is null for
     * the process.
     */
    public record Key(Kind kind, String name, ThreadKind threadKind) {}

    /**
     * A line of the comparison. The figures are the mean CPU use in processors: 1 is one fully used processor.
     *
     * @param error the margin that a difference exceeds by chance in fewer than 1 in 1,000 cases; NaN if a recording is
     *     too short
     * @param changed whether the difference exceeds both this margin and the threshold of the comparison
     */
    public record Change(
            Key key, double before, double after, double userBefore, double userAfter, double error, boolean changed) {
        public double difference() {
            return after - before;
        }

        /** Returns whether the recordings are long enough to estimate the error. */
        public boolean isErrorKnown() {
            return !Double.isNaN(error);
        }
    }

    /** The CPU use for one key, by batch. */
    private static final class Series {
        private final double[] cpu;
        private double user;

        Series(int batches) {
            cpu = new double[batches];
        }
    }

    /** The CPU use in one of the two recordings. */
    private static final class RecordingUsage {
        final Map<Key, Series> byKey = new HashMap<>();
        /** The duration of each batch. */
        final double[] batchNanos;

        private final int intervals;

        RecordingUsage(Iterable<Interval> recording) {
            int count = 0;
            for (Interval interval : recording) if (!interval.threads().isEmpty()) count++;
            intervals = count;
            batchNanos = new double[Math.min(MAX_BATCHES, count)];
            int index = 0;
            for (Interval interval : recording) if (!interval.threads().isEmpty()) add(interval, index++);
        }

        private void add(Interval interval, int index) {
            int batch = (int) ((long) index * batchNanos.length / intervals);
            batchNanos[batch] += interval.intervalNanos();
            ProcessUsage totals = interval.totals();
            add(new Key(Kind.PROCESS, "", null), batch, totals.processNanos(), totals.processUserNanos());
            for (ThreadUsage usage : interval.threads()) {
                add(new Key(Kind.POOL, usage.pool(), usage.kind()), batch, usage.cpuNanos(), usage.userNanos());
                add(new Key(Kind.THREAD, usage.name(), usage.kind()), batch, usage.cpuNanos(), usage.userNanos());
            }
            for (ThreadUsage usage : interval.accounts())
                add(new Key(Kind.ACCOUNT, usage.pool(), usage.kind()), batch, usage.cpuNanos(), usage.userNanos());
        }

        private void add(Key key, int batch, long cpu, long user) {
            Series series = byKey.computeIfAbsent(key, k -> new Series(batchNanos.length));
            series.cpu[batch] += Math.max(0, cpu);
            series.user += Math.max(0, user);
        }

        boolean hasAccounts() {
            return byKey.keySet().stream().anyMatch(key -> key.kind == Kind.ACCOUNT);
        }

        double seconds() {
            return Arrays.stream(batchNanos).sum() / 1e9;
        }

        double mean(Key key) {
            Series series = byKey.get(key);
            return series == null ? 0 : Arrays.stream(series.cpu).sum() / 1e9 / seconds();
        }

        double meanUser(Key key) {
            Series series = byKey.get(key);
            return series == null ? 0 : series.user / 1e9 / seconds();
        }

        /** Returns the squared standard error of the mean. */
        double variance(Key key) {
            Series series = byKey.get(key);
            if (series == null) return 0;
            double mean = mean(key);
            double sum = 0;
            for (int i = 0; i < batchNanos.length; i++) sum += Math.pow(series.cpu[i] / batchNanos[i] - mean, 2);
            return sum / (batchNanos.length - 1) / batchNanos.length;
        }
    }

    private final RecordingUsage before;
    private final RecordingUsage after;
    private final double threshold;

    /**
     * Compares two recordings. Differences smaller than {@code threshold} processors do not count as changes, even if
     * significant.
     */
    public Comparison(Iterable<Interval> before, Iterable<Interval> after, double threshold) {
        this.before = new RecordingUsage(before);
        this.after = new RecordingUsage(after);
        this.threshold = threshold;
    }

    public double secondsBefore() {
        return before.seconds();
    }

    public double secondsAfter() {
        return after.seconds();
    }

    /**
     * Returns the process, then pools, threads, and accounts, each with the largest difference first. Without accounts
     * in both recordings, there are none: they may only lack an agent that reports them.
     */
    public List<Change> changes() {
        Set<Key> keys = new HashSet<>(before.byKey.keySet());
        keys.addAll(after.byKey.keySet());
        if (!before.hasAccounts() || !after.hasAccounts()) keys.removeIf(key -> key.kind == Kind.ACCOUNT);
        List<Change> changes = new ArrayList<>();
        for (Key key : keys) {
            // All threads of the pool have the same name, so the line for the pool is enough.
            if (key.kind == Kind.THREAD && keys.contains(new Key(Kind.POOL, key.name, key.threadKind))) continue;
            changes.add(change(key));
        }
        changes.sort(Comparator.comparing((Change c) -> c.key.kind)
                .thenComparing(c -> -Math.abs(c.difference()))
                .thenComparing(c -> c.key.name));
        return changes;
    }

    private Change change(Key key) {
        int freedom = Math.min(before.batchNanos.length, after.batchNanos.length) - 1;
        double error =
                freedom < 1 ? Double.NaN : STUDENT_T[freedom] * Math.sqrt(before.variance(key) + after.variance(key));
        double difference = after.mean(key) - before.mean(key);
        boolean changed = Math.abs(difference) >= threshold && Math.abs(difference) > error;
        return new Change(
                key, before.mean(key), after.mean(key), before.meanUser(key), after.meanUser(key), error, changed);
    }
}
