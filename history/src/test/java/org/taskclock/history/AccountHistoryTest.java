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
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.CpuTime;
import org.taskclock.metrics.AccountKey;
import org.taskclock.monitor.recording.PoolSeries;
import org.taskclock.monitor.usage.ThreadUsage;

/** Named accounts in the history: beside the pools, and never added to them. */
class AccountHistoryTest {
    private static final JvmKey JVM = Samples.jvm(1);
    private static final long START = 1_790_000_040 / 60 * 60;
    private static final int SECONDS = 300;
    private static final long MILLION = 1_000_000;
    private static final String HOSTILE = "a=b='\"<b>\u202e\n, x";

    @TempDir
    Path directory;

    private static HistorySample sample(int second, List<ThreadUsage> pools) {
        long user = pools.stream()
                .filter(usage -> !usage.kind().label().equals("account"))
                .mapToLong(ThreadUsage::userNanos)
                .sum();
        return new HistorySample(
                JVM,
                Instant.ofEpochSecond(START + second + 1),
                Samples.SECOND,
                pools,
                List.of(),
                new CpuTime(user, user, 0),
                null);
    }

    private static void fill(StepwiseHistory history) throws SQLException {
        for (int second = 0; second < SECONDS; second++) {
            history.add(sample(
                    second,
                    List.of(
                            Samples.pool("worker-#", 10 * MILLION, 0),
                            Samples.account("tenant", HOSTILE, 6 * MILLION, MILLION),
                            Samples.account("tenant", "(unaccounted)", 3 * MILLION, 0),
                            // So little that it has one row for a minute.
                            Samples.account("endpoint", "/a", MILLION / 2, 0))));
            if (second % 10 == 9) history.writeAll();
        }
        // Completes the last minute.
        history.add(sample(SECONDS, List.of(Samples.pool("worker-#", 10 * MILLION, 0))));
        history.writeAll();
        history.rollUp();
    }

    @Test
    void shouldRollUpAccountsBesidePools() throws SQLException, HistoryException {
        try (StepwiseHistory history = new StepwiseHistory(directory)) {
            fill(history);
            history.writer.trimByAge(new Retention(new HistoryOptions(
                    Duration.ofMinutes(2), Duration.ofMinutes(4), Duration.ofDays(1), Long.MAX_VALUE)));
            assertThat(history.number("SELECT count(DISTINCT seconds) FROM account_cpu"))
                    .isEqualTo(3);
            assertThat(history.number("SELECT sum(cpu_ns) FROM pool_cpu")).isEqualTo(10 * MILLION * (SECONDS + 1));
            assertThat(history.number("SELECT count(*) FROM pool_cpu WHERE kind = 'account' OR pool LIKE '%=%'"))
                    .isZero();
            String hostile = " FROM account_cpu WHERE type = 'tenant' AND account = " + HistoryDatabase.quote(HOSTILE)
                    + " AND pid = 1 AND host = 'host-a'";
            assertThat(history.number("SELECT sum(cpu_ns)" + hostile)).isEqualTo(7 * MILLION * SECONDS);
            assertThat(history.number("SELECT sum(system_ns)" + hostile)).isEqualTo(MILLION * SECONDS);
            assertThat(history.number("SELECT sum(wait_ns)" + hostile)).isEqualTo(7L * SECONDS);
            assertThat(history.number("SELECT sum(user_ns) FROM account_cpu WHERE type = 'endpoint'"))
                    .isEqualTo(MILLION / 2 * SECONDS);
            try (Connection connection = history.database.reader()) {
                for (int points : new int[] {1_000, 30, 2}) shouldReturnRows(connection, points);
                List<JvmHistory> jvms =
                        HostReader.jvms(connection, Instant.ofEpochSecond(START), Instant.ofEpochSecond(START + 60));
                assertThat(jvms.get(0).cpuNanos()).isEqualTo(10 * MILLION * 60);
            }
        }
    }

    private static void shouldReturnRows(Connection connection, int points) throws SQLException {
        Instant start = Instant.ofEpochSecond(START);
        PoolSeries series = new SeriesReader(connection, JVM.id(), start, start.plusSeconds(SECONDS), points).pools();
        Map<String, Long> accounts = series.pools().stream()
                .filter(PoolSeries.Row::isAccount)
                .collect(Collectors.toMap(PoolSeries.Row::pool, PoolSeries.Row::cpuNanos));
        assertThat(accounts)
                .isEqualTo(Map.of(
                        "tenant=" + HOSTILE,
                        7 * MILLION * SECONDS,
                        "tenant=(unaccounted)",
                        3 * MILLION * SECONDS,
                        "endpoint=/a",
                        MILLION / 2 * SECONDS));
        assertThat(series.pools().stream().filter(row -> !row.isAccount()))
                .singleElement()
                .satisfies(row ->
                        assertThat(row.cpuNanos()).isBetween(10 * MILLION * SECONDS, 10 * MILLION * (SECONDS + 1)));
    }

    @Test
    void shouldLimitAccountsWithoutCrowdingOutPools() throws SQLException, HistoryException {
        int accounts = SeriesKeys.MAX_ACCOUNTS + 200;
        int types = 100;
        try (StepwiseHistory history = new StepwiseHistory(directory)) {
            List<ThreadUsage> usages = new ArrayList<>();
            for (int i = 0; i < accounts; i++) usages.add(Samples.account("tenant", "t" + i, 10, 0));
            for (int i = 0; i < types; i++) usages.add(Samples.account("type" + i, "a", 10, 0));
            for (int i = 0; i < SeriesKeys.MAX_POOLS + 5; i++) usages.add(Samples.pool("pool " + i, 10, 0));
            for (int second = 0; second < 3; second++) history.add(sample(second, usages));
            history.writeAll();
            String pools = "SELECT count(*) FROM pool_key WHERE kind = 'java' AND pool ";
            assertThat(history.number(pools + "!= 'other'")).isEqualTo(SeriesKeys.MAX_POOLS);
            assertThat(history.number("SELECT sum(cpu_ns) FROM pool_cpu WHERE pool = 'other'"))
                    .isEqualTo(3 * 5 * 10);
            assertThat(history.number("SELECT sum(cpu_ns) FROM account_cpu WHERE type = 'tenant'"))
                    .isEqualTo(3L * accounts * 10);
            assertThat(history.number(
                            "SELECT sum(cpu_ns) FROM account_cpu WHERE type = 'tenant' AND account = 'other'"))
                    .isEqualTo(3 * 200 * 10);
            assertThat(history.number("SELECT count(*) FROM account_cpu WHERE account = 'a'"))
                    .as("types after the limit")
                    .isZero();
            assertThat(history.number("SELECT sum(cpu_ns) FROM account_cpu WHERE type = 'type0' AND account = 'other'"))
                    .isEqualTo(3 * 10);
            assertThat(history.number("SELECT count(*) FROM pool_key WHERE kind = 'account'"))
                    .isBetween((long) SeriesKeys.MAX_ACCOUNTS, (long) SeriesKeys.MAX_ACCOUNTS + types - 1);
        }
    }

    @Test
    void shouldStoreKeysAgainInANewFile() throws SQLException, HistoryException {
        SeriesKeys keys = new SeriesKeys();
        SeriesKeys.Jvm jvm = keys.jvm(JVM, 0, 1);
        keys.pool(jvm, Samples.pool("a", 1, 0));
        keys.pool(jvm, Samples.account("tenant", "a", 1, 0));
        keys.removeWritten();
        keys.forgetWritten();
        assertThat(keys.newPools)
                .extracting(SeriesKeys.NewPool::pool)
                .containsExactlyInAnyOrder("a", new AccountKey("tenant", "a").pool());
    }

    @Test
    void shouldAddTheViewToAFileThatLacksIt() throws SQLException, HistoryException {
        try (StepwiseHistory history = new StepwiseHistory(directory)) {
            fill(history);
            Sql.execute(
                    history.writer.connection(),
                    "DROP VIEW account_cpu",
                    "CREATE OR REPLACE VIEW pool_cpu AS FROM pool_row");
            history.writer.connection().commit();
            assertThat(history.number("SELECT count(*) FROM pool_cpu WHERE kind = 'account'"))
                    .isPositive();
        }
        try (StepwiseHistory history = new StepwiseHistory(directory)) {
            assertThat(history.number("SELECT sum(cpu_ns) FROM account_cpu WHERE type = 'tenant'"))
                    .isEqualTo(10 * MILLION * SECONDS);
            assertThat(history.number("SELECT sum(cpu_ns) FROM pool_cpu")).isEqualTo(10 * MILLION * (SECONDS + 1));
        }
    }
}
