// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.io.OutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.taskclock.history.ExportBy;
import org.taskclock.history.ExportFormat;
import org.taskclock.history.History;
import org.taskclock.history.HistoryProfile;
import org.taskclock.history.HistorySample;
import org.taskclock.history.HistoryStatus;
import org.taskclock.history.JvmHistory;
import org.taskclock.history.StackHistory;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.monitor.recording.PoolSeries;
import org.taskclock.monitor.recording.ThreadSeries;

/** A history that has as many pools and threads as can be asked for, all of them busy. */
class GeneratedHistory implements History {
    private static final int POOLS = 500;

    /** Why nothing is written; null if it is. */
    volatile String problem;

    private static long[] column(int points, long nanos) {
        long[] column = new long[points];
        Arrays.fill(column, nanos);
        return column;
    }

    private static long[] times(Instant from, int points) {
        return LongStream.range(0, points)
                .map(i -> from.toEpochMilli() + i * 1_000)
                .toArray();
    }

    @Override
    public void add(HistorySample sample) {}

    @Override
    public void add(Mark mark) {}

    @Override
    public void add(HistoryProfile profile) {}

    @Override
    public HistoryStatus status() {
        return new HistoryStatus(problem, 0, null, null, 0);
    }

    @Override
    public List<JvmHistory> jvms(Instant from, Instant to) {
        return List.of();
    }

    @Override
    public PoolSeries pools(String jvmId, Instant from, Instant to, int points) {
        List<PoolSeries.Row> rows = new ArrayList<>();
        for (int i = 0; i < POOLS; i++)
            rows.add(new PoolSeries.Row(
                    "pool " + i,
                    ThreadKind.JAVA,
                    new int[points],
                    column(points, 123_456_789),
                    column(points, 12_345_678),
                    column(points, 1_234_567)));
        PoolSeries.Totals totals = new PoolSeries.Totals(
                column(points, 900_000_000),
                column(points, 90_000_000),
                column(points, -1),
                column(points, -1),
                new double[points]);
        return new PoolSeries(from, to, Duration.ofSeconds(1), times(from, points), rows, totals);
    }

    @Override
    public ThreadSeries threads(String jvmId, Instant from, Instant to, int points, int maxThreads) {
        List<ThreadSeries.Row> rows = new ArrayList<>();
        for (int i = 1; i <= maxThreads; i++)
            rows.add(new ThreadSeries.Row(
                    i,
                    "thread " + i,
                    "pool",
                    ThreadKind.JAVA,
                    column(points, 123_456_789),
                    column(points, 12_345_678)));
        return new ThreadSeries(from, to, Duration.ofSeconds(1), times(from, points), rows);
    }

    @Override
    public StackHistory stacks(String jvmId, Instant from, Instant to, String pool, int maxStacks) {
        return new StackHistory(Duration.ZERO, List.of());
    }

    @Override
    public List<Mark> marks(String jvmId, Instant from, Instant to) {
        return List.of();
    }

    @Override
    public void export(String jvmId, Instant from, Instant to, ExportBy by, ExportFormat format, OutputStream out) {}

    @Override
    public void close() {}
}
