// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.monitor.recording.ThreadSeries;
import org.taskclock.monitor.usage.ThreadUsage;

/** What coarser resolutions keep of pools and threads. */
class RollUpTest {
    private static final JvmKey JVM = Samples.jvm(1);
    private static final long START = 1_790_000_040 / 60 * 60;
    private static final int MINUTES = 5;
    private static final long MILLION = 1_000_000;

    @TempDir
    Path directory;

    private StepwiseHistory history;

    @BeforeEach
    void open() throws SQLException, HistoryException {
        history = new StepwiseHistory(directory);
    }

    @AfterEach
    void close() throws SQLException {
        history.close();
    }

    private void add(int second, List<ThreadUsage> pools, List<ThreadUsage> threads) {
        history.add(Samples.sample(JVM, Instant.ofEpochSecond(START + second + 1), pools, threads));
    }

    /** Threads 1 to 20 use 5, 10, .. 100 ms in each second, and thread 99 a quarter of that of thread 1. */
    private void addThreads() throws SQLException {
        for (int second = 0; second < MINUTES * 60; second++) {
            List<ThreadUsage> threads = new ArrayList<>();
            for (int tid = 1; tid <= 20; tid++)
                threads.add(Samples.thread(tid, "t-" + tid, 4 * MILLION * tid, MILLION * tid));
            threads.add(Samples.thread(99, "small", MILLION, MILLION / 4));
            add(second, List.of(Samples.pool("a", MILLION, 0)), threads);
            if (second % 10 == 9) history.writeAll();
        }
        add(MINUTES * 60, List.of(Samples.pool("a", 1, 0)), List.of());
        history.writeAll();
        history.rollUp();
    }

    @Test
    void shouldKeepTheCpuTimeOfThreadsAboveOnePercent() throws SQLException {
        addThreads();
        for (int resolution : new int[] {10, 60}) {
            String table = "thread_" + resolution;
            assertThat(history.number("SELECT count(DISTINCT series) FROM " + table))
                    .as("threads that use at least 10 ms in a second")
                    .isEqualTo(19);
            for (int tid = 2; tid <= 20; tid++) {
                String rows = " FROM " + table + " JOIN thread_key USING (series) WHERE tid = " + tid;
                assertThat(history.number("SELECT sum(user_ns)" + rows)).isEqualTo(4 * MILLION * tid * MINUTES * 60);
                assertThat(history.number("SELECT sum(system_ns)" + rows)).isEqualTo(MILLION * tid * MINUTES * 60);
                assertThat(history.number("SELECT count(*)" + rows)).isEqualTo(MINUTES * 60 / resolution);
                assertThat(history.number("SELECT min(time)" + rows)).isEqualTo(START);
            }
        }
        assertThat(history.number("SELECT count(DISTINCT series) FROM thread_1"))
                .isEqualTo(21);
    }

    @Test
    void shouldReturnTheBusiestThreads() throws SQLException {
        addThreads();
        history.writer.trimByAge(new Retention(
                new HistoryOptions(Duration.ofMinutes(2), Duration.ofMinutes(4), Duration.ofDays(1), Long.MAX_VALUE)));
        try (Connection connection = history.database.reader()) {
            for (int points : new int[] {1_000, 10, 2}) {
                ThreadSeries series = new SeriesReader(
                                connection,
                                JVM.id(),
                                Instant.ofEpochSecond(START),
                                Instant.ofEpochSecond(START + MINUTES * 60),
                                points)
                        .threads(3);
                assertThat(series.threads()).extracting(ThreadSeries.Row::name).containsExactly("t-20", "t-19", "t-18");
                assertThat(series.threads())
                        .extracting(ThreadSeries.Row::cpuNanos)
                        .containsExactly(
                                100 * MILLION * MINUTES * 60, 95 * MILLION * MINUTES * 60, 90 * MILLION * MINUTES * 60);
            }
        }
        assertThat(history.number("SELECT sum(cpu_ns) FROM thread_cpu WHERE tid = 20"))
                .as("each moment once")
                .isEqualTo(100 * MILLION * MINUTES * 60);
    }

    @Test
    void shouldRollUpInPieces() throws SQLException {
        for (int second = 0; second < MINUTES * 60 + 1; second++) {
            add(
                    second,
                    List.of(Samples.pool("a", MILLION / 2, 5), Samples.pool("b", 10 * MILLION, 3)),
                    List.of(Samples.thread(1, "t", 10 * MILLION, 0)));
            if (second % 10 == 0) history.writeAll();
        }
        int rows = 0;
        int steps = 0;
        int newest = (int) history.number("SELECT max(batch) FROM pool_1") - 1;
        for (boolean hasMore = true; hasMore; steps++) {
            hasMore = RollUp.run(history.writer.connection(), newest, 1);
            history.writer.connection().commit();
            long rolled = history.number("SELECT rolled FROM state");
            long expected =
                    history.number("SELECT count(DISTINCT (time // 60, series)) FROM pool_1 WHERE batch <= " + rolled);
            assertThat(history.number("SELECT count(DISTINCT (time, series)) FROM pool_60"))
                    .isEqualTo(expected)
                    .isGreaterThan(rows);
            assertThat(history.number("SELECT sum(user_ns + system_ns) FROM pool_60"))
                    .isEqualTo(history.number("SELECT sum(user_ns + system_ns) FROM pool_1 WHERE batch <= " + rolled));
            rows = (int) expected;
        }
        assertThat(history.number("SELECT rolled FROM state")).isEqualTo(newest);
        assertThat(RollUp.run(history.writer.connection(), newest, 1)).isFalse();
        assertThat(history.number("SELECT count(*) FROM pool_10 JOIN pool_key USING (series) WHERE pool = 'a'"))
                .as("less than 0.1 % of a core is one row for a minute")
                .isZero();
        assertThat(history.number("SELECT count(*) FROM pool_10 JOIN pool_key USING (series) WHERE pool = 'b'"))
                .isEqualTo(MINUTES * 6);
        assertThat(steps).isEqualTo(MINUTES);
    }
}
