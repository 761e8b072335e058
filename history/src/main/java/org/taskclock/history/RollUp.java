// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Aggregates rows of one second to ten seconds and one minute, and deletes expired rows. Each row is added once, in the
 * transaction that marks its batch as done, so that no CPU time is lost or counted twice.
 */
final class RollUp {
    /** Pools that used less than this in a minute (0.1 % of a core) get one row for the minute instead of up to six. */
    static final long SPARSE_NANOS = 60_000_000;

    /** Threads below 1 % of a core are dropped. */
    static final long THREAD_NANOS_PER_SECOND = 10_000_000;

    /** The number of rows of pools to roll up at a time, which takes about half a second. */
    private static final int MAX_ROWS = 1_500_000;

    private RollUp() {}

    /**
     * Rolls up batches up to {@code newest}, but not too many at a time. Similar values next to each other compress
     * better, so the rows of a series are written one after the other, next to those of series of the same magnitude.
     *
     * @return whether there are more
     */
    static boolean run(Connection connection, int newest) throws SQLException {
        return run(connection, newest, MAX_ROWS);
    }

    static boolean run(Connection connection, int newest, int maxRows) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            int rolled = Sql.number(connection, "SELECT rolled FROM state").intValue();
            if (newest <= rolled) return false;
            int batch = lastBatch(connection, rolled, newest, maxRows);
            String range = "batch > " + rolled + " AND batch <= " + batch;
            statement.execute("""
                    CREATE OR REPLACE TEMP TABLE sums AS
                    SELECT *, sum(user_ns + system_ns) OVER (PARTITION BY series, time // 60) < %d AS sparse,
                        log2(1 + sum(user_ns + system_ns) OVER (PARTITION BY series))::INTEGER AS magnitude
                    FROM (SELECT time // 10 * 10 AS time, jvm, series, sum(user_ns)::BIGINT AS user_ns,
                        sum(system_ns)::BIGINT AS system_ns, sum(wait_ns)::BIGINT AS wait_ns, max(threads) AS threads
                        FROM pool_1 WHERE %s GROUP BY ALL)
                    """.formatted(SPARSE_NANOS, range));
            statement.execute("""
                    INSERT INTO pool_10 SELECT time, jvm, series, user_ns, system_ns, wait_ns, threads FROM sums
                    WHERE NOT sparse ORDER BY magnitude, jvm, series, time
                    """);
            statement.execute("""
                    INSERT INTO pool_60 SELECT time // 60 * 60 AS minute, jvm, series, sum(user_ns), sum(system_ns),
                        sum(wait_ns), max(threads), any_value(sparse)
                    FROM sums GROUP BY minute, jvm, series ORDER BY any_value(magnitude), jvm, series, minute
                    """);
            statement.execute("DROP TABLE sums");
            for (int seconds : new int[] {10, 60}) rollThreads(statement, range, seconds);
            rollProcesses(statement, range);
            statement.execute("UPDATE state SET rolled = " + batch);
            return batch < newest;
        }
    }

    /** Returns the last batch to include, so that the batches have about as many rows as may be rolled up at a time. */
    private static int lastBatch(Connection connection, int rolled, int newest, int maxRows) throws SQLException {
        // A batch that begins below the limit is included, so that there is always one.
        Long batch = Sql.number(connection, """
                SELECT min(batch) FROM (SELECT batch, sum(count(*)) OVER (ORDER BY batch) AS total FROM pool_1
                    WHERE batch > ? AND batch <= ? GROUP BY batch)
                WHERE total >= ?
                """, rolled, newest, maxRows);
        return batch == null ? newest : batch.intValue();
    }

    private static void rollThreads(Statement statement, String range, int seconds) throws SQLException {
        statement.execute("""
                INSERT INTO thread_%1$d SELECT time // %1$d * %1$d AS t, jvm, series, sum(user_ns), sum(system_ns)
                FROM thread_1 WHERE %2$s GROUP BY t, jvm, series HAVING sum(user_ns + system_ns) >= %3$d
                ORDER BY jvm, series, t
                """.formatted(seconds, range, seconds * THREAD_NANOS_PER_SECOND));
    }

    private static void rollProcesses(Statement statement, String range) throws SQLException {
        statement.execute("""
                CREATE OR REPLACE TEMP TABLE sums AS
                SELECT *, sum(user_ns + system_ns) OVER (PARTITION BY jvm, time // 60) < %d
                    AND coalesce(sum(throttled_ns) OVER (PARTITION BY jvm, time // 60), 0) = 0 AS sparse
                FROM (SELECT time // 10 * 10 AS time, jvm, sum(user_ns)::BIGINT AS user_ns,
                    sum(system_ns)::BIGINT AS system_ns, sum(container_ns)::BIGINT AS container_ns,
                    sum(throttled_ns)::BIGINT AS throttled_ns, max(cpu_limit) AS cpu_limit
                    FROM process_1 WHERE %s GROUP BY ALL)
                """.formatted(SPARSE_NANOS, range));
        statement.execute("""
                INSERT INTO process_10 SELECT * EXCLUDE (sparse) FROM sums WHERE NOT sparse ORDER BY jvm, time
                """);
        statement.execute("""
                INSERT INTO process_60 SELECT time // 60 * 60 AS minute, jvm, sum(user_ns), sum(system_ns),
                    sum(container_ns), sum(throttled_ns), max(cpu_limit), any_value(sparse)
                FROM sums GROUP BY minute, jvm ORDER BY jvm, minute
                """);
        statement.execute("DROP TABLE sums");
    }

    /** Deletes rows of one second that are contained in the coarser tables. */
    static void deleteSeconds(Connection connection, List<RecordedTime.Range> ranges) throws SQLException {
        delete(connection, ranges, " AND batch <= (SELECT rolled FROM state)", "pool_1", "thread_1", "process_1");
    }

    /** Deletes rows of ten seconds. Those of one minute contain them. */
    static void deleteTenSeconds(Connection connection, List<RecordedTime.Range> ranges) throws SQLException {
        delete(connection, ranges, "", "pool_10", "thread_10", "process_10");
    }

    static void deleteMinutes(Connection connection, List<RecordedTime.Range> ranges) throws SQLException {
        delete(connection, ranges, "", "pool_60", "thread_60", "process_60", "profile_60");
    }

    static void deleteProfiles(Connection connection, List<RecordedTime.Range> ranges) throws SQLException {
        delete(connection, ranges, "", "profile_60");
    }

    private static void delete(
            Connection connection, List<RecordedTime.Range> ranges, String condition, String... tables)
            throws SQLException {
        for (RecordedTime.Range range : ranges)
            for (String table : tables)
                Sql.execute(
                        connection,
                        "DELETE FROM " + table + " WHERE time >= " + range.start() + " AND time < " + range.stop()
                                + condition);
    }

    /**
     * Deletes the keys of JVMs, pools, and threads that have no rows.
     *
     * @param used the numbers of JVMs for which rows may still be written
     */
    static void deleteKeys(Connection connection, Collection<Integer> used) throws SQLException {
        String numbers = used.stream().map(String::valueOf).collect(Collectors.joining(",", "[", "]::INTEGER[]"));
        Sql.execute(
                connection,
                """
                DELETE FROM thread_key WHERE series NOT IN (SELECT series FROM thread_1 UNION
                    SELECT series FROM thread_10 UNION SELECT series FROM thread_60)
                """,
                """
                DELETE FROM jvm_key WHERE jvm NOT IN (SELECT unnest(%s) UNION SELECT jvm FROM pool_1 UNION
                    SELECT jvm FROM pool_60 UNION SELECT jvm FROM process_1 UNION SELECT jvm FROM process_60)
                """.formatted(numbers),
                "DELETE FROM pool_key WHERE jvm NOT IN (SELECT jvm FROM jvm_key)");
    }
}
