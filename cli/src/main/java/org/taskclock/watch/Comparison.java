// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What pools and threads used in two recordings, per second. Whether that is different is judged by how much it varies within each:
 * the intervals of each are put into up to twenty stretches, as those beside each other are alike, and the means of the stretches tell
 * the error of the mean of all.
 */
public final class Comparison {
    /** Student's t for 1 in 1,000 on both sides together, by degrees of freedom: dozens of pools are compared at a time. */
    private static final double[] T = {
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

    private static final int STRETCHES = 20;

    /** What is compared. */
    public enum Kind {
        PROCESS,
        POOL,
        THREAD
    }

    /** What there was to compare: which JVM's, and in which way its threads' names tell who is who. */
    public record Key(Kind kind, String name, Row.Kind threads) {}

    /**
     * One line of the comparison, in processors: 1 is one in use all the time.
     *
     * @param error of the difference, with which it is less than 1 in 1,000 that it is larger by chance; NaN where a recording is too
     *     short to tell
     * @param changed whether it is larger than that error and than what was asked for
     */
    public record Change(
            Key key, double before, double after, double userBefore, double userAfter, double error, boolean changed) {
        public double difference() {
            return after - before;
        }

        public boolean isJudged() {
            return !Double.isNaN(error);
        }
    }

    /** What one key used, by stretch. */
    private static final class Series {
        private final double[] cpu;
        private double user;

        Series(int stretches) {
            cpu = new double[stretches];
        }
    }

    /** One recording. */
    private static final class Side {
        final Map<Key, Series> all = new HashMap<>();
        /** How long each stretch is. */
        final double[] nanos;

        private final int intervals;

        Side(Iterable<Frame> recording) {
            int count = 0;
            for (Frame frame : recording) if (!frame.rows().isEmpty()) count++;
            intervals = count;
            nanos = new double[Math.min(STRETCHES, count)];
            int at = 0;
            for (Frame frame : recording) if (!frame.rows().isEmpty()) add(frame, at++);
        }

        private void add(Frame frame, int at) {
            int stretch = (int) ((long) at * nanos.length / intervals);
            nanos[stretch] += frame.intervalNanos();
            Totals totals = frame.totals();
            add(new Key(Kind.PROCESS, "", null), stretch, totals.processNanos(), totals.processUserNanos());
            for (Row row : frame.rows()) {
                add(new Key(Kind.POOL, row.pool(), row.kind()), stretch, row.cpuNanos(), row.userNanos());
                add(new Key(Kind.THREAD, row.name(), row.kind()), stretch, row.cpuNanos(), row.userNanos());
            }
        }

        private void add(Key key, int stretch, long cpu, long user) {
            Series series = all.computeIfAbsent(key, k -> new Series(nanos.length));
            series.cpu[stretch] += Math.max(0, cpu);
            series.user += Math.max(0, user);
        }

        double seconds() {
            return Arrays.stream(nanos).sum() / 1e9;
        }

        double mean(Key key) {
            Series series = all.get(key);
            return series == null ? 0 : Arrays.stream(series.cpu).sum() / 1e9 / seconds();
        }

        double user(Key key) {
            Series series = all.get(key);
            return series == null ? 0 : series.user / 1e9 / seconds();
        }

        /** Squared error of the mean. */
        double variance(Key key) {
            Series series = all.get(key);
            if (series == null) return 0;
            double mean = mean(key);
            double sum = 0;
            for (int i = 0; i < nanos.length; i++) sum += Math.pow(series.cpu[i] / nanos[i] - mean, 2);
            return sum / (nanos.length - 1) / nanos.length;
        }
    }

    private final Side before;
    private final Side after;
    private final double least;

    /** {@code least}: a difference of so many processors is none, however sure it is. */
    public Comparison(Iterable<Frame> before, Iterable<Frame> after, double least) {
        this.before = new Side(before);
        this.after = new Side(after);
        this.least = least;
    }

    public double secondsBefore() {
        return before.seconds();
    }

    public double secondsAfter() {
        return after.seconds();
    }

    /** All of them, the largest difference first, and within a pool of one thread the pool only. */
    public List<Change> changes() {
        Set<Key> keys = new HashSet<>(before.all.keySet());
        keys.addAll(after.all.keySet());
        List<Change> all = new ArrayList<>();
        for (Key key : keys) {
            // A pool whose threads' names differ by nothing: one line tells all.
            if (key.kind == Kind.THREAD && keys.contains(new Key(Kind.POOL, key.name, key.threads))) continue;
            all.add(change(key));
        }
        all.sort(Comparator.comparing((Change c) -> c.key.kind)
                .thenComparing(c -> -Math.abs(c.difference()))
                .thenComparing(c -> c.key.name));
        return all;
    }

    private Change change(Key key) {
        int freedom = Math.min(before.nanos.length, after.nanos.length) - 1;
        double error = freedom < 1 ? Double.NaN : T[freedom] * Math.sqrt(before.variance(key) + after.variance(key));
        double difference = after.mean(key) - before.mean(key);
        boolean changed = Math.abs(difference) >= least && Math.abs(difference) > error;
        return new Change(key, before.mean(key), after.mean(key), before.user(key), after.user(key), error, changed);
    }
}
