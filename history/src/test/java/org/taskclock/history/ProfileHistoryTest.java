// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.monitor.profile.MethodComparison;
import org.taskclock.monitor.profile.Profile;

/** Continuous profiles in the history. */
class ProfileHistoryTest {
    private static final JvmKey JVM = Samples.jvm(1);
    private static final long START = 1_790_000_040 / 60 * 60;
    private static final long MILLION = 1_000_000;
    private static final List<String> HOT = List.of("Main.run", "Main.hot");
    private static final List<String> WARM = List.of("Main.run", "Main.warm", "Main.run");

    @TempDir
    Path directory;

    private static Instant minute(int minute) {
        return Instant.ofEpochSecond(START + 60L * minute);
    }

    private static HistoryProfile profile(int from, int to, long hot, long warm) {
        return new HistoryProfile(
                JVM,
                minute(from),
                minute(to),
                List.of(
                        new HistoryProfile.Stack("a", false, HOT, 3, hot),
                        new HistoryProfile.Stack("a", false, WARM, 1, warm),
                        new HistoryProfile.Stack("b", false, HOT, 1, 1)));
    }

    private static HistorySample sample(int second) {
        return Samples.sample(
                JVM,
                Instant.ofEpochSecond(START + second + 1),
                List.of(Samples.pool("a", 30 * MILLION, 10 * MILLION), Samples.pool("b", 5 * MILLION, 0)),
                List.of());
    }

    private static void fill(StepwiseHistory history, int minutes) throws SQLException {
        for (int second = 0; second < 60 * minutes + 2; second++) {
            history.add(sample(second));
            if (second % 60 == 59) history.writeAll();
        }
        history.writeAll();
    }

    private static Map<List<String>, Long> stacks(StackHistory history, String pool) {
        return history.stacks().stream()
                .filter(stack -> stack.pool().equals(pool))
                .collect(Collectors.toMap(StackHistory.Stack::frames, StackHistory.Stack::cpuNanos));
    }

    @Test
    void shouldAddUpToTheTimeOfThePoolsInEachMinute() throws Exception {
        try (StepwiseHistory history = new StepwiseHistory(directory)) {
            fill(history, 3);
            history.writer.write(profile(0, 1, 3, 1));
            history.writer.write(profile(1, 3, 1, 1));
            for (String pool : List.of("a", "b"))
                assertThat(history.number("SELECT count(*) FROM (SELECT time_bucket(INTERVAL 1 MINUTE, time) AS m,"
                                + " sum(cpu_ns) AS n FROM pool_cpu WHERE pool = '" + pool + "' GROUP BY m) p JOIN"
                                + " (SELECT time AS m, sum(cpu_ns) AS n FROM stack_cpu WHERE pool = '" + pool
                                + "' GROUP BY m) s USING (m, n)"))
                        .as("minutes with the same CPU time in both")
                        .isEqualTo(3);
            long minute = 60 * 40 * MILLION;
            String methods = " FROM method_cpu WHERE pool = 'a' AND service = '" + JVM.service() + "' AND method = ";
            assertThat(history.number("SELECT sum(total_ns)" + methods + "'Main.run'"))
                    .isEqualTo(3 * minute);
            assertThat(history.number("SELECT sum(self_ns)" + methods + "'Main.run'"))
                    .as("a recursive method counts once")
                    .isEqualTo(minute / 4 + 2 * minute / 2);
            assertThat(history.number("SELECT sum(self_ns)" + methods + "'Main.hot'"))
                    .isEqualTo(minute * 3 / 4 + 2 * minute / 2);
            assertThat(history.number("SELECT count(*) FROM stack_key"))
                    .as("each stack once")
                    .isEqualTo(2);
            assertThat(history.number("SELECT sum(samples) FROM stack_cpu WHERE pool = 'b'"))
                    .isEqualTo(2);
        }
        try (StepwiseHistory history = new StepwiseHistory(directory)) {
            fill(history, 1);
            history.writer.write(profile(0, 1, 1, 0));
            assertThat(history.number("SELECT count(*) FROM stack_key"))
                    .as("known after a restart")
                    .isEqualTo(2);
        }
    }

    @Test
    void shouldReturnStacksAndCompareMethods() throws Exception {
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            for (int second = 0; second < 122; second++) history.add(sample(second));
            history.add(profile(0, 1, 3, 1));
            history.add(profile(1, 2, 1, 3));
        }
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            StackHistory first = history.stacks(JVM.id(), minute(0).plusSeconds(59), minute(1), "a", 10);
            assertThat(first.profiled()).as("minutes that overlap the range").isEqualTo(Duration.ofMinutes(1));
            assertThat(stacks(first, "a")).isEqualTo(Map.of(HOT, 1_800 * MILLION, WARM, 600 * MILLION));
            assertThat(first.stacks()).as("only of the pool").hasSize(2);
            StackHistory limited = history.stacks(JVM.id(), minute(0), minute(2), null, 1);
            assertThat(stacks(limited, "a")).containsValues(2_400 * MILLION).containsKey(List.of("[other]"));
            assertThat(history.stacks(JVM.id(), minute(5), minute(6), null, 1).profiled())
                    .isZero();

            // The server answers on its socket, and also when it does not run.
            shouldAnswerQueries();
        }
        shouldAnswerQueries();
    }

    private void shouldAnswerQueries() throws IOException {
        HistoryQueries queries = HistoryQueries.of(directory);
        for (String name : List.of("SERVICE-1", "main", "1", JVM.id())) {
            List<HistoryQueries.Program> programs = queries.programs(name, minute(0), minute(1));
            assertThat(programs).as(name).containsExactly(new HistoryQueries.Program(JVM.service(), List.of(JVM.id())));
        }
        assertThat(queries.programs("it's not there", minute(0), minute(1))).isEmpty();
        HistoryQueries.Program program = new HistoryQueries.Program("it's", List.of(JVM.id()));
        Profile before = queries.stacks(program, minute(0), minute(1), null, 100)
                .pool("A")
                .profile(1, "p", "t", minute(1), List.of());
        Profile after = queries.stacks(program, minute(1), minute(2), null, 100)
                .pool("a")
                .profile(1, "p", "t", minute(2), List.of());
        assertThat(after.cpuNanos()).isEqualTo(60 * 40 * MILLION);
        List<MethodComparison.Change> changes = MethodComparison.of(before, after);
        assertThat(changes).extracting(MethodComparison.Change::name).contains("Main.hot", "Main.run", "Main.warm");
        assertThat(Math.abs(changes.get(0).self())).isCloseTo(0.02, within(1e-9));
        assertThat(changes.get(2)).isEqualTo(new MethodComparison.Change("Main.warm", 0, 0, 0.01, 0.03));
    }

    @Test
    void shouldDeleteOldProfilesAndStacksThatNothingUses() throws SQLException, HistoryException {
        try (StepwiseHistory history = new StepwiseHistory(directory)) {
            fill(history, 20);
            history.writer.write(profile(0, 1, 1, 1));
            history.writer.write(profile(18, 19, 1, 0));
            history.rollUp();
            history.writer.trimByAge(new Retention(new HistoryOptions(
                    Duration.ofMinutes(5), Duration.ofMinutes(5), Duration.ofMinutes(10), Long.MAX_VALUE)));
            assertThat(history.number("SELECT min(epoch(time)) FROM stack_cpu")).isEqualTo(START + 18 * 60);
            assertThat(history.number("SELECT count(*) FROM stack_key")).isEqualTo(1);
            history.writer.write(profile(17, 18, 1, 1));
            assertThat(history.number("SELECT count(*) FROM stack_cpu WHERE frames[2] = 'Main.warm'"))
                    .as("a deleted stack is stored again")
                    .isEqualTo(1);
        }
    }

    @Test
    void shouldDeleteProfilesFirstIfTheFileIsTooLarge() throws SQLException, HistoryException {
        try (StepwiseHistory history = new StepwiseHistory(directory)) {
            fill(history, 20);
            for (int i = 0; i < 19; i++) history.writer.write(profile(i, i + 1, 1, 1));
            history.rollUp();
            long rows = history.number("SELECT count(*) FROM profile_60");
            Retention retention = new Retention(HistoryOptions.DEFAULT);
            assertThat(history.writer.trimBySize(retention)).isTrue();
            assertThat(history.number("SELECT count(*) FROM profile_60")).isBetween(rows * 3 / 4, rows - 1);
            assertThat(history.number("SELECT min(epoch(time)) FROM stack_cpu")).isGreaterThan(START);
            while (history.number("SELECT count(*) FROM profile_60") > 0)
                assertThat(history.writer.trimBySize(retention)).isTrue();
            assertThat(history.number("SELECT count(*) FROM pool_10"))
                    .as("later")
                    .isPositive();
        }
    }

    @Test
    void shouldLimitNewStacksWithoutLosingTime() throws SQLException, HistoryException {
        int minutes = 20;
        try (StepwiseHistory history = new StepwiseHistory(directory)) {
            fill(history, minutes);
            for (int minute = 0; minute < minutes; minute++) {
                List<HistoryProfile.Stack> stacks = new ArrayList<>();
                for (int i = 0; i < ProfileRows.MAX_ROWS; i++)
                    stacks.add(new HistoryProfile.Stack(
                            "a", false, List.of("run", "minute " + minute + " " + i, "leaf " + i % 3), 1, 1));
                history.writer.write(new HistoryProfile(JVM, minute(minute), minute(minute + 1), stacks));
            }
            long kept = history.number("SELECT count(*) FROM stack_key WHERE len(frames) > 2");
            assertThat(kept)
                    .isBetween((long) StackKeys.MAX_NEW, StackKeys.MAX_NEW + minutes * (long) StackKeys.NEW_PER_MINUTE);
            assertThat(history.number("SELECT sum(cpu_ns) FROM stack_cpu WHERE pool = 'a'"))
                    .isEqualTo(60 * 40 * MILLION * minutes);
            assertThat(history.number(
                            "SELECT count(*) FROM stack_cpu WHERE frames[1] = '[other]' AND frames[2] LIKE 'leaf %'"))
                    .as("methods without their callers, each once in a minute")
                    .isBetween(1L, 3L * minutes);
            assertThat(history.number("SELECT sum(self_ns) FROM method_cpu WHERE method LIKE 'leaf %'"))
                    .as("the time of methods themselves")
                    .isEqualTo(60 * 40 * MILLION * minutes);
        }
    }

    @Test
    void shouldWaitUntilTheMinuteIsComplete() {
        PendingProfiles pending = new PendingProfiles();
        pending.add(profile(0, 1, 1, 1));
        assertThat(pending.take((int) START + 59)).isEmpty();
        assertThat(pending.take((int) START + 60)).hasSize(1);
        assertThat(pending.take((int) START + 60)).isEmpty();
        for (int i = 0; i < PendingProfiles.MAX_PROFILES + 5; i++) pending.add(profile(i, i + 1, 1, 1));
        assertThat(pending.take(Integer.MAX_VALUE))
                .hasSize(PendingProfiles.MAX_PROFILES)
                .first()
                .extracting(HistoryProfile::from)
                .isEqualTo(minute(5));
    }
}
