// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.monitor.ThreadUsage;

/** What is deleted, by age and by size, and what a wrong clock cannot delete. */
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
        for (int hours : new int[] {50, 30, 2, 1}) add(NOW - (long) hours * HOUR, 120);
        writeAndRollUp();
        assertThat(count("pool_1")).isEqualTo(480);
        assertThat(count("pool_10")).isEqualTo(48);
        assertThat(count("pool_60")).isEqualTo(8);
        history.writer.trimByAge(new Retention(options(HOUR, DAY, 2 * DAY, HUGE)), NOW);
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
        assertThat(deletePart(retention, 700_000)).isFalse();
        assertThat(count("pool_10")).isEqualTo(seconds / 10);
        assertThat(deletePart(retention, 700_001)).isTrue();
        assertThat(first("pool_10")).isEqualTo(NOW - seconds + seconds / 8);
        assertThat(first("thread_10")).isEqualTo(NOW - seconds + seconds / 8);
        assertThat(first("process_10")).isEqualTo(NOW - seconds + seconds / 8);
        while (count("pool_10") > 0) assertThat(deletePart(retention, HUGE)).isTrue();
        assertThat(count("pool_1")).isEqualTo(seconds);
        assertThat(deletePart(retention, HUGE)).isTrue();
        assertThat(first("pool_1")).as("with the row at NOW").isEqualTo(NOW - seconds + seconds / 8 + 60);
        while (first("pool_1") < NOW - 600)
            assertThat(deletePart(retention, HUGE)).isTrue();
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
        assertThat(deletePart(retention, HUGE)).isTrue();
        assertThat(first("pool_60")).isEqualTo(NOW - seconds + seconds / 8);
        assertThat(samplesInView()).isEqualTo(seconds * 7 / 8);
        while (count("pool_60") > 0) assertThat(deletePart(retention, HUGE)).isTrue();
        assertThat(deletePart(retention, HUGE)).isFalse();
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

    private boolean deletePart(Retention retention, long bytes) throws SQLException {
        boolean isDeleted = retention.deleteBySize(history.writer.connection(), bytes, NOW);
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
        assertThat(history.writer.trimBySize(retention, NOW)).isTrue();
        for (int i = 0; i < 100 && history.writer.trimBySize(retention, NOW); i++)
            assertThat(history.writer.usedBytes()).isLessThanOrEqualTo(before);
        assertThat(history.writer.usedBytes()).isLessThanOrEqualTo(before * 4 / 5 * 7 / 10);
        assertThat(first("pool_60")).as("the finer rows are enough").isEqualTo(NOW - 3 * HOUR);
    }

    @Test
    void shouldDeleteByAgeOnlyWhatTimeHasPassedFor() throws SQLException, HistoryException {
        for (int days : new int[] {300, 6, 1}) add(NOW - (long) days * DAY, 120);
        writeAndRollUp();
        HistoryOptions options = options(HOUR, 7 * DAY, YEAR, HUGE);
        SettableClock wall = new SettableClock(NOW);
        Maintenance maintenance = new Maintenance(options, history.keys, wall, wall::nanos);
        pass(maintenance, wall, 1);
        assertThat(samplesInView()).isEqualTo(360);
        assertThat(count("pool_60")).isEqualTo(6);
        assertThat(count("pool_10")).isEqualTo(24);

        wall.offset = YEAR;
        pass(maintenance, wall, 6);
        assertThat(count("pool_60")).as("after an hour of a wrong clock").isEqualTo(6);
        assertThat(count("pool_10")).as("after an hour of a wrong clock").isEqualTo(24);
        // The process is killed.
        history.close();
        open();
        Maintenance next = new Maintenance(options, history.keys, wall, wall::nanos);
        pass(next, wall, 6);
        assertThat(count("pool_10"))
                .as("of the next process, whose clock is wrong")
                .isEqualTo(24);

        wall.offset = 0;
        pass(next, wall, 6);
        assertThat(samplesInView()).isEqualTo(360);
        assertThat(count("pool_10")).as("with the right clock").isEqualTo(24);

        wall.offset = -YEAR;
        pass(next, wall, 6);
        assertThat(count("pool_10")).as("of a year ago").isEqualTo(24);

        wall.offset = 0;
        wall.seconds += 2 * DAY;
        pass(next, wall, 1);
        assertThat(count("pool_10")).as("of those of 6 days, 2 days later").isEqualTo(12);
        wall.seconds += YEAR;
        pass(next, wall, 1);
        assertThat(samplesInView()).as("a year later").isZero();
        assertThat(count("pool_60")).as("a year later").isZero();
    }

    @Test
    void shouldContinueWithTheTimeOfTheProcessBefore() throws SQLException {
        SettableClock wall = new SettableClock(NOW);
        Maintenance maintenance = new Maintenance(HistoryOptions.DEFAULT, history.keys, wall, wall::nanos);
        pass(maintenance, wall, 1);
        assertThat(history.writer.retentionTime()).isEqualTo(NOW + 601);
        wall.seconds += 60;
        maintenance.close(history.writer);
        assertThat(history.writer.retentionTime()).isEqualTo(NOW + 661);
        wall.offset = YEAR;
        Maintenance next = new Maintenance(HistoryOptions.DEFAULT, history.keys, wall, wall::nanos);
        next.close(history.writer);
        assertThat(history.writer.retentionTime()).isEqualTo(NOW + 661);
    }

    @Test
    void shouldDeleteUntilTheFileIsSmallEnough() throws SQLException {
        add(NOW - HOUR, HOUR);
        writeAndRollUp();
        history.writer.checkpoint();
        SettableClock wall = new SettableClock(NOW);
        HistoryOptions options = options(DAY, DAY, YEAR, 1);
        pass(new Maintenance(options, history.keys, wall, wall::nanos), wall, 1);
        assertThat(count("pool_10")).isZero();
    }

    /** Lets ten minutes pass several times, and does what is due. */
    private void pass(Maintenance maintenance, SettableClock wall, int times) throws SQLException {
        for (int i = 0; i < times; i++) {
            wall.seconds += 601;
            boolean isDone = false;
            for (int step = 0; step < 30 && !isDone; step++) isDone = maintenance.run(history.writer);
            assertThat(isDone).isTrue();
        }
    }

    /** A clock whose wall time is wrong by an offset. */
    private static final class SettableClock extends Clock {
        long offset;
        long seconds;
        private final long start;

        SettableClock(long start) {
            this.start = start;
        }

        long nanos() {
            return seconds * 1_000_000_000;
        }

        @Override
        public Instant instant() {
            return Instant.ofEpochSecond(start + seconds + offset);
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }
    }

    @Test
    void shouldDeleteAnEighthOfTheRowsAndNotOfTheTime() throws SQLException {
        add(NOW - 2 * HOUR, 2 * HOUR);
        history.write();
        add(NOW + YEAR, 60);
        history.write();
        writeAndRollUp();
        Retention retention = new Retention(options(DAY, DAY, YEAR, 1_000_000));
        while (first("pool_10") > 0) assertThat(deletePart(retention, HUGE)).isTrue();
        while (count("pool_1") > 700) assertThat(deletePart(retention, HUGE)).isTrue();
        assertThat(count("pool_60")).isEqualTo(120);
        assertThat(deletePart(retention, HUGE)).isTrue();
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

    @Test
    void shouldFollowTheWallClockAtLimitedSpeed() {
        long second = 1_000_000_000L;
        RetentionClock clock = new RetentionClock(0, 1_000, 0);
        assertThat(clock.now(1_005, 5 * second)).isEqualTo(1_005);
        assertThat(clock.now(1_006, 5 * second + second / 2))
                .as("no whole second")
                .isEqualTo(1_005);
        assertThat(clock.now(1_000_000, 6 * second)).isEqualTo(1_015);
        assertThat(clock.now(1_008, 7 * second)).as("the wall clock is behind").isEqualTo(1_008);
        assertThat(clock.time()).isEqualTo(1_008);
        assertThat(clock.now(1, 8 * second)).isEqualTo(1);
        assertThat(clock.time()).isEqualTo(998);
        assertThat(new RetentionClock(998, 5_000, 0).now(5_000, 10 * second)).isEqualTo(1_098);
        assertThat(new RetentionClock(998, 5_000, 0).now(5_000, 1_000 * second)).isEqualTo(5_000);
    }
}
