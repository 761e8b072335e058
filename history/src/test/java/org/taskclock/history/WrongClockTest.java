// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * A clock that is wrong, or time that is not recorded, neither deletes rows before their age nor keeps them for longer.
 * A day of a machine takes a second here.
 */
@Tag("slow17")
class WrongClockTest {
    private static final JvmKey JVM = Samples.jvm(1);
    private static final long NOW = 1_790_000_040 / 60 * 60;
    private static final int HOUR = 3_600;
    private static final int DAY = 24 * HOUR;
    private static final int YEAR = 365 * DAY;
    private static final int[] RESOLUTIONS = {1, 10, 60};
    private static final int[] KEPT = {600, HOUR / 2, 2 * HOUR};

    /** More than pools that have one row for a minute. */
    private static final long NANOS = 5_000_000;

    /** Rows are rolled up once an hour and deleted by whole minutes, every ten minutes of time without a pause. */
    private static final int SLACK = HOUR + 600 + 420;

    @TempDir
    Path directory;

    private StepwiseHistory history;
    private Maintenance maintenance;
    private long maxBytes = Long.MAX_VALUE;

    /** How long the machine has recorded, in seconds. */
    private long uptime;

    /** What its clock shows. */
    private long wall = NOW;

    /** When each second of the clock was last recorded, by the uptime. */
    private final Map<Integer, Long> recordedAt = new HashMap<>();

    @BeforeEach
    void start() throws SQLException, HistoryException {
        history = new StepwiseHistory(directory);
        HistoryOptions options = new HistoryOptions(
                Duration.ofSeconds(KEPT[0]), Duration.ofSeconds(KEPT[1]), Duration.ofSeconds(KEPT[2]), maxBytes);
        maintenance = new Maintenance(options, history.keys, history.database, () -> uptime * 1_000_000_000);
    }

    @AfterEach
    void stop() throws SQLException {
        history.close();
    }

    /** Records for some time. */
    private void record(int seconds) throws SQLException {
        for (int i = 0; i < seconds; i++) {
            recordedAt.put((int) wall, uptime);
            wall++;
            uptime++;
            List<ThreadUsage> pools = List.of(Samples.pool("a", NANOS, 0));
            List<ThreadUsage> threads = List.of(Samples.thread(7, "t", NANOS * 4, 0));
            history.add(Samples.sample(JVM, Instant.ofEpochSecond(wall), pools, threads));
            if (uptime % 300 != 0) continue;
            history.write();
            boolean isDone = uptime % 600 != 0;
            for (int step = 0; step < 200 && !isDone; step++) isDone = maintenance.run(history.writer);
            assertThat(isDone).isTrue();
        }
    }

    private Set<Integer> times(String table) throws SQLException {
        Set<Integer> times = new HashSet<>();
        try (Connection connection = history.database.reader();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SELECT DISTINCT time FROM " + table)) {
            while (result.next()) times.add(result.getInt(1));
        }
        return times;
    }

    /** Checks that what is younger than its age is there, and what is older is not. */
    private void expectRetentionByWhatWasRecorded() throws SQLException {
        history.writeAll();
        for (int i = 0; i < RESOLUTIONS.length; i++) {
            int step = RESOLUTIONS[i];
            for (String kind : List.of("pool_", "thread_", "process_")) {
                Set<Integer> times = times(kind + step);
                Set<Integer> young = new HashSet<>();
                int kept = KEPT[i];
                recordedAt.forEach((time, at) -> {
                    if (uptime - at <= kept + SLACK) young.add(time / step * step);
                    if (uptime - at > kept || (step > 1 && uptime - at <= HOUR + 120)) return;
                    assertThat(times.contains(time / step * step))
                            .as("%s%d at %d, recorded %d s ago", kind, step, time, uptime - at)
                            .isTrue();
                });
                assertThat(times).as("%s%d", kind, step).isSubsetOf(young);
            }
        }
        assertThat(history.number("SELECT sum(cpu_ns) FROM pool_cpu") / NANOS)
                .as("each second that is kept appears once")
                .isBetween(Math.min(uptime, KEPT[2]) - 10, (long) KEPT[2] + SLACK);
    }

    @Test
    void shouldDeleteByAgeAfterAFirstStartIn1970() throws SQLException {
        wall = 30;
        record(HOUR / 2);
        wall = NOW;
        record(HOUR);
        expectRetentionByWhatWasRecorded();
        record(4 * HOUR);
        expectRetentionByWhatWasRecorded();
        assertThat(first("pool_60")).as("nothing of 1970").isGreaterThan(NOW);
    }

    @Test
    void shouldDeleteByAgeAfterTheClockWasAheadForAnHour() throws SQLException {
        record(2 * HOUR);
        wall += YEAR;
        record(HOUR);
        expectRetentionByWhatWasRecorded();
        wall -= YEAR;
        record(HOUR / 2);
        expectRetentionByWhatWasRecorded();
        record(3 * HOUR);
        expectRetentionByWhatWasRecorded();
        assertThat(history.number("SELECT max(time) FROM pool_60"))
                .as("nothing of the year after")
                .isLessThan(wall);
    }

    @Test
    void shouldDeleteByAgeAfterDaysWithoutRecording() throws SQLException, HistoryException {
        record(2 * HOUR);
        history.close();
        wall += 5 * DAY;
        start();
        record(600);
        expectRetentionByWhatWasRecorded();
        record(3 * HOUR);
        expectRetentionByWhatWasRecorded();
    }

    @Test
    void shouldDeleteByAgeAfterTheClockWasSetBackByADay() throws SQLException {
        wall += DAY;
        record(2 * HOUR);
        wall -= DAY;
        record(HOUR / 2);
        expectRetentionByWhatWasRecorded();
        record(3 * HOUR);
        expectRetentionByWhatWasRecorded();
    }

    @Test
    void shouldDeleteByAgeIfEachBootBeginsIn1970() throws SQLException, HistoryException {
        for (int boot = 0; boot < 5; boot++) {
            long time = wall;
            wall = 30;
            record(300);
            wall = time + 300;
            record(HOUR);
            expectRetentionByWhatWasRecorded();
            history.close();
            wall += 600;
            start();
        }
    }

    @Test
    void shouldDeleteByAgeIfTheClockIsInAYearThatTheTableCannotHold() throws SQLException {
        wall = Instant.parse("2100-01-01T00:00:00Z").getEpochSecond();
        record(3 * HOUR);
        assertThat(times("pool_1").size()).isLessThan(600 + SLACK);
        assertThat(times("pool_60").size()).isBetween(60, (2 * HOUR + SLACK) / 60);
        wall = NOW;
        record(3 * HOUR + 600);
        assertThat(first("pool_60")).isGreaterThanOrEqualTo(NOW);
    }

    @Test
    void shouldLimitTheSizeWhateverTheClockShows() throws SQLException, HistoryException {
        history.close();
        maxBytes = 1;
        start();
        wall = 30;
        record(HOUR / 2);
        wall = NOW + YEAR;
        record(HOUR / 2);
        wall = NOW;
        record(HOUR / 2);
        assertThat(times("pool_1").size()).as("rows of one second").isLessThanOrEqualTo(1_800);
        assertThat(times("pool_10")).as("rows of ten seconds").hasSizeLessThanOrEqualTo(60);
        assertThat(first("pool_1")).as("what was recorded last remains").isGreaterThanOrEqualTo(NOW);
    }

    private long first(String table) throws SQLException {
        return history.number("SELECT min(time) FROM " + table);
    }
}
