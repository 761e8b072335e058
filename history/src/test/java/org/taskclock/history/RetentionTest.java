// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.monitor.recording.PoolSeries;
import org.taskclock.monitor.usage.ThreadUsage;

/** What is deleted, by age and by size. */
class RetentionTest {
    private static final JvmKey JVM = Samples.jvm(1);

    /** More than pools that have one row for a minute. */
    private static final long NANOS = 5_000_000;

    private static final long NOW = 1_790_000_040 / 60 * 60;
    private static final int HOUR = 3_600;
    private static final int DAY = 24 * HOUR;
    private static final int YEAR = 365 * DAY;
    private static final long HUGE = Long.MAX_VALUE;

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

    /** Adds a sample for each of some seconds. */
    private void add(long from, int count) {
        for (int i = 0; i < count; i++)
            history.add(Samples.sample(
                    JVM,
                    Instant.ofEpochSecond(from + i + 1),
                    List.of(Samples.pool("a", NANOS, 0)),
                    List.of(Samples.thread(7, "t", NANOS * 4, 0))));
    }

    /** Writes what was added, and rolls it up, apart from a sample at {@code NOW}. */
    private void writeAndRollUp() throws SQLException {
        history.write();
        add(NOW, 1);
        history.writeAll();
        history.rollUp();
    }

    private long count(String table) throws SQLException {
        return history.number("SELECT count(*) FROM " + table + " WHERE time < " + NOW);
    }

    private long first(String table) throws SQLException {
        return history.number("SELECT min(time) FROM " + table);
    }

    /** Returns the CPU time in seconds of the rows that people query, without the sample at {@code NOW}. */
    private long samplesInView() throws SQLException {
        return history.number("SELECT sum(cpu_ns) FROM pool_cpu WHERE epoch(time) < " + NOW) / NANOS;
    }

    private static HistoryOptions options(int seconds, int tens, int minutes, long bytes) {
        return new HistoryOptions(
                Duration.ofSeconds(seconds), Duration.ofSeconds(tens), Duration.ofSeconds(minutes), bytes);
    }

    @Test
    void shouldDeleteEachResolutionAtItsAge() throws SQLException {
        for (int hours : new int[] {50, 30, 2, 1}) {
            add(NOW - (long) hours * HOUR, 120);
            history.write();
        }
        writeAndRollUp();
        assertThat(count("pool_1")).isEqualTo(480);
        assertThat(count("pool_10")).isEqualTo(48);
        assertThat(count("pool_60")).isEqualTo(8);
        // Only what was recorded counts.
        history.writer.trimByAge(new Retention(options(121, 241, 361, HUGE)));
        for (String kind : List.of("pool", "thread", "process")) {
            assertThat(first(kind + "_1")).isEqualTo(NOW - HOUR);
            assertThat(first(kind + "_10")).isEqualTo(NOW - 2 * HOUR);
            assertThat(first(kind + "_60")).isEqualTo(NOW - 30 * HOUR);
        }
        assertThat(samplesInView()).isEqualTo(360);
    }

    @Test
    void shouldDeleteTheFinestRowsFirstIfTheFileIsTooLarge() throws SQLException {
        int seconds = 2 * HOUR;
        add(NOW - seconds, seconds);
        writeAndRollUp();
        Retention retention = new Retention(options(DAY, DAY, YEAR, 1_000_000));
        assertThat(retention.isTooLarge(700_000, 0)).isFalse();
        assertThat(retention.isTooLarge(700_001, 0)).isTrue();
        assertThat(retention.isTooLarge(600_000, 200_000))
                .as("with other files")
                .isTrue();
        assertThat(retention.isTooLarge(350_000, HUGE)).as("beside other files").isFalse();
        assertThat(count("pool_10")).isEqualTo(seconds / 10);
        assertThat(deletePart(retention)).isTrue();
        assertThat(first("pool_10")).isEqualTo(NOW - seconds + seconds / 8);
        assertThat(first("thread_10")).isEqualTo(NOW - seconds + seconds / 8);
        assertThat(first("process_10")).isEqualTo(NOW - seconds + seconds / 8);
        while (count("pool_10") > 0) assertThat(deletePart(retention)).isTrue();
        assertThat(count("pool_1")).isEqualTo(seconds);
        assertThat(deletePart(retention)).isTrue();
        assertThat(first("pool_1")).as("with the row at NOW").isEqualTo(NOW - seconds + seconds / 8 + 60);
        while (first("pool_1") < NOW - 600) assertThat(deletePart(retention)).isTrue();
        assertThat(first("pool_1")).isEqualTo(NOW - 600);
        assertThat(count("pool_60")).isEqualTo(seconds / 60);
        assertThat(samplesInView()).isEqualTo(seconds);
        for (String view : List.of("thread", "process"))
            assertThat(history.number("SELECT count(DISTINCT time) FROM " + view + "_cpu WHERE epoch(time) < " + NOW))
                    .isEqualTo(600 + (seconds - 600) / 60);
        assertThat(samplesInSteps(10))
                .as("although there are no rows of ten seconds")
                .isEqualTo(500);
        assertThat(samplesInSteps(60)).isEqualTo(480);
        assertThat(deletePart(retention)).isTrue();
        assertThat(first("pool_60")).isEqualTo(NOW - seconds + seconds / 8);
        assertThat(samplesInView()).isEqualTo(seconds * 7 / 8);
        while (count("pool_60") > 0) assertThat(deletePart(retention)).isTrue();
        assertThat(deletePart(retention)).isFalse();
        assertThat(samplesInView()).isEqualTo(600);
    }

    /** Returns the CPU time of the first complete steps of the last ten minutes, in samples. */
    private long samplesInSteps(int seconds) throws SQLException {
        try (Connection connection = history.database.reader()) {
            int from = (int) NOW - 600;
            int to = from + (seconds == 10 ? 500 : 480);
            PoolSeries series = new SeriesReader(
                            connection,
                            JVM.id(),
                            Instant.ofEpochSecond(from),
                            Instant.ofEpochSecond(to),
                            (to - from) / seconds)
                    .pools();
            assertThat(series.step()).isEqualTo(Duration.ofSeconds(seconds));
            return series.pools().get(0).cpuNanos() / NANOS;
        }
    }

    private boolean deletePart(Retention retention) throws SQLException {
        boolean isDeleted = retention.deleteBySize(history.writer.connection());
        history.writer.connection().commit();
        return isDeleted;
    }

    @Test
    void shouldMakeTheFileSmaller() throws SQLException {
        Random random = new Random(1);
        for (int i = 0; i < 3 * HOUR; i++) {
            List<ThreadUsage> pools = new ArrayList<>();
            for (int pool = 0; pool < 40; pool++)
                pools.add(Samples.pool("pool-" + pool, random.nextInt(20_000_000), random.nextInt(5_000_000)));
            history.add(Samples.sample(JVM, Instant.ofEpochSecond(NOW - 3 * HOUR + i + 1), pools, List.of()));
            if (i % 600 == 0) history.write();
        }
        writeAndRollUp();
        history.writer.checkpoint();
        long before = history.writer.usedBytes();
        Retention retention = new Retention(options(DAY, DAY, YEAR, before * 4 / 5));
        for (int i = 0; i < 100 && retention.isTooLarge(history.writer.usedBytes(), 0); i++) {
            assertThat(history.writer.trimBySize(retention)).isTrue();
            assertThat(history.writer.usedBytes()).isLessThanOrEqualTo(before);
        }
        assertThat(history.writer.usedBytes()).isLessThanOrEqualTo(before * 4 / 5 * 7 / 10);
        assertThat(first("pool_60")).as("the finer rows are enough").isEqualTo(NOW - 3 * HOUR);
    }

    @Test
    void shouldDeleteUntilTheFileIsSmallEnough() throws SQLException {
        add(NOW - HOUR, HOUR);
        writeAndRollUp();
        history.writer.checkpoint();
        long[] seconds = {0};
        Maintenance maintenance = new Maintenance(
                options(DAY, DAY, YEAR, 1), history.keys, history.database, () -> seconds[0] * 1_000_000_000);
        boolean isDone = false;
        for (int step = 0; step < 200 && !isDone; step++) isDone = maintenance.run(history.writer);
        assertThat(isDone).isTrue();
        assertThat(count("pool_10")).isZero();
        assertThat(count("pool_60")).isZero();
        assertThat(count("pool_1")).as("the last ten minutes").isBetween(540L, 660L);
    }

    @Test
    void shouldDeleteMarksByAgeAndNumber() throws SQLException {
        add(NOW, 60);
        history.writeAll();
        Mark impossible = new Mark(Instant.ofEpochSecond(4_000_000_000L), null, "user", "x".repeat(10_000));
        history.writer.write(
                new PendingRows.Batch(List.of(), List.of(), List.of()),
                List.of(impossible),
                Integer.MAX_VALUE,
                Integer.MIN_VALUE);
        assertThat(history.number("SELECT length(text) FROM mark_row")).isEqualTo(500);
        Retention retention = new Retention(options(60, 60, 120, HUGE));
        history.writer.trimByAge(retention);
        assertThat(history.number("SELECT count(*) FROM mark_row")).isEqualTo(1);
        add(NOW + 60, 240);
        history.writeAll();
        history.writer.trimByAge(retention);
        assertThat(history.number("SELECT count(*) FROM mark_row")).isZero();

        try (Statement statement = history.writer.connection().createStatement()) {
            statement.execute("INSERT INTO mark_row SELECT range, NULL, 'user', range, 300 FROM range("
                    + (Retention.MAX_MARKS + 1_000) + ")");
        }
        history.writer.trimByAge(retention);
        assertThat(history.number("SELECT count(*) FROM mark_row")).isEqualTo(Retention.MAX_MARKS);
        assertThat(history.number("SELECT min(time) FROM mark_row")).isEqualTo(1_000);
    }

    @Test
    void shouldDeleteAnEighthOfTheRowsAndNotOfTheTime() throws SQLException {
        add(NOW - 2 * HOUR, 2 * HOUR);
        history.write();
        add(NOW + YEAR, 60);
        history.write();
        writeAndRollUp();
        Retention retention = new Retention(options(DAY, DAY, YEAR, 1_000_000));
        while (first("pool_10") > 0) assertThat(deletePart(retention)).isTrue();
        while (count("pool_60") == 120) assertThat(deletePart(retention)).isTrue();
        assertThat(count("pool_60")).isBetween(100L, 110L);
    }

    @Test
    void shouldNotCountTheTimeOfAWrongClockAsRecorded() throws SQLException {
        add(NOW, 3);
        add(NOW + YEAR, 3);
        history.writeAll();
        add(NOW + 3, 3);
        history.writeAll();
        assertThat(history.number("SELECT sum(stop - start) FROM recorded")).isLessThan(20);
        assertThat(history.number(
                        "SELECT count(*) FROM recorded WHERE start <= " + (NOW + 100) + " AND stop > " + (NOW + 100)))
                .isZero();
    }
}
