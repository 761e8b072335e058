// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ThreadUsage;

/** Collects the CPU time of each thread over time, for a heatmap with a bounded number of rows and columns. */
final class ThreadHeatmap {
    /** More rows would not fit on a screen. */
    static final int MAX_ROWS = 40;

    private static final int MAX_COLUMNS = 480;

    /** A column of which less than this was recorded is shown as a gap, because clocks do not agree exactly. */
    private static final double MIN_COVERAGE = 0.1;

    private final Instant start;
    private long columnNanos;
    private int columns;
    /** The recorded time, instead of CPU time. */
    private final ColumnSums covered;
    /** The CPU time of the process. */
    private final ColumnSums process;

    ThreadHeatmap(Instant start, long intervalNanos) {
        this.start = start;
        this.columnNanos = intervalNanos;
        this.covered = newThread();
        this.process = newThread();
    }

    ColumnSums newThread() {
        return new ColumnSums(columnNanos);
    }

    private long startNanos(Interval interval) {
        return Math.max(0, endNanos(interval) - interval.intervalNanos());
    }

    private long endNanos(Interval interval) {
        // At least one nanosecond, even if the system's clock was set back to before the start.
        return Math.max(1, Duration.between(start, interval.end()).toNanos());
    }

    /** Adds an interval. The CPU time that no thread accounts for is shown with the other threads. */
    void add(Interval interval, long listedCpuNanos, long listedUserNanos) {
        long end = endNanos(interval);
        while ((end - 1) / columnNanos >= MAX_COLUMNS) {
            columnNanos *= 2;
            columns = (columns + 1) / 2;
        }
        columns = Math.max(columns, (int) ((end - 1) / columnNanos) + 1);
        long begin = startNanos(interval);
        covered.add(columnNanos, begin, end, (double) (end - begin), 0);
        long cpu = Math.max(interval.totals().processNanos(), listedCpuNanos);
        long user = Math.max(interval.totals().processUserNanos(), listedUserNanos);
        process.add(columnNanos, begin, end, (double) cpu, (double) Math.min(user, cpu));
    }

    /** Adds the CPU time of a thread. Called after {@link #add(Interval, long, long)}. */
    void add(Interval interval, ColumnSums thread, ThreadUsage usage) {
        if (usage.cpuNanos() <= 0) return;
        double user = usage.userNanos() < 0 ? Double.NaN : (double) usage.userNanos();
        thread.add(columnNanos, startNanos(interval), endNanos(interval), (double) usage.cpuNanos(), user);
    }

    /** Returns the heatmap, or null if no thread used CPU time. */
    Result.Heatmap heatmap(Collection<RecordingSummary.UsageSum> threads, long threadsSeen) {
        List<RecordingSummary.UsageSum> busy = threads.stream()
                .filter(thread -> thread.cpuNanos > 0)
                .sorted(Comparator.comparingLong((RecordingSummary.UsageSum thread) -> -thread.cpuNanos))
                .toList();
        if (busy.isEmpty()) return null;
        List<RecordingSummary.UsageSum> shown = busy.subList(0, Math.min(busy.size(), MAX_ROWS));
        List<Result.HeatmapRow> rows = new ArrayList<>();
        double[] otherCpu = percent(process, false);
        double[] otherUser = percent(process, true);
        for (RecordingSummary.UsageSum thread : shown) {
            double[] cpu = percent(thread.columns, false);
            double[] user = percent(thread.columns, true);
            rows.add(row(thread.name, thread.tid, cpu, user));
            for (int i = 0; i < columns; i++) {
                otherCpu[i] = cpu[i] < 0 ? -1 : Math.max(0, otherCpu[i] - cpu[i]);
                otherUser[i] = user[i] < 0 || otherUser[i] < 0 ? -1 : Math.max(0, otherUser[i] - user[i]);
            }
        }
        for (int i = 0; i < columns; i++) otherUser[i] = Math.min(otherUser[i], otherCpu[i]);
        long others = threadsSeen - shown.size();
        boolean sum = others > 0 || max(otherCpu) >= 1;
        if (sum) {
            String name = others == 1
                    ? "1 other thread"
                    : others > 0 ? String.format(Locale.ROOT, "%,d other threads", others) : "other threads";
            rows.add(row(name, 0, otherCpu, otherUser));
        }
        return new Result.Heatmap("CPU by thread", text(shown.size(), threadsSeen, sum), 0, columnNanos / 1e9, rows);
    }

    private static String text(int shown, long threadsSeen, boolean sum) {
        String which = shown < threadsSeen
                ? String.format(
                        Locale.ROOT, "The %,d threads with the most CPU time, of %,d, most first.", shown, threadsSeen)
                : String.format(Locale.ROOT, "All %,d threads, most CPU time first.", shown);
        return sum
                ? which + " The last row is the sum of all others, including threads that started and ended between"
                        + " two readings."
                : which;
    }

    private double[] percent(ColumnSums sums, boolean user) {
        double[] percent = new double[columns];
        for (int i = 0; i < columns; i++) {
            double recorded = covered.cpu(columnNanos, i);
            double nanos = user ? sums.user(columnNanos, i) : sums.cpu(columnNanos, i);
            boolean known = recorded >= MIN_COVERAGE * columnNanos && !Double.isNaN(nanos);
            percent[i] = known ? 100 * nanos / recorded : -1;
        }
        return percent;
    }

    private static double max(double[] values) {
        double max = 0;
        for (double value : values) max = Math.max(max, value);
        return max;
    }

    private static Result.HeatmapRow row(String name, int tid, double[] cpu, double[] user) {
        return new Result.HeatmapRow(name, tid, rounded(cpu), rounded(user));
    }

    private static List<Double> rounded(double[] values) {
        return Arrays.stream(values)
                .mapToObj(value -> Math.round(value * 100) / 100.0)
                .toList();
    }
}
