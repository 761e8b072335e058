// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.recording.PoolSeries;
import org.taskclock.monitor.recording.ThreadSeries;

/** Reads the history of one JVM, in one transaction. */
final class SeriesReader {
    private record PoolId(String pool, ThreadKind kind) {}

    private record ThreadId(int tid, String name, String pool, ThreadKind kind) {}

    /** Each has up to 28 bytes. */
    private static final int MAX_CELLS = 400_000;

    private final Connection connection;
    private final int jvm;

    /** The columns of series start with this: -1 where nothing was recorded, otherwise 0. */
    private final long[] empty;

    private final Resolution resolution;

    SeriesReader(Connection connection, String jvmId, Instant from, Instant to, int maxPoints) throws SQLException {
        this.connection = connection;
        resolution = Resolution.of(from, to, maxPoints, hasRows(1, from, to), hasRows(10, from, to));
        empty = new long[resolution.steps()];
        Arrays.fill(empty, -1);
        jvm = jvm(jvmId);
    }

    /** Returns how many points each of a number of series may have, so that the result fits into memory. */
    static int points(int maxPoints, int series) {
        return Math.min(maxPoints, Math.max(1, MAX_CELLS / Math.max(1, series)));
    }

    static int countPools(Connection connection, String jvmId) throws SQLException {
        return Sql.number(
                        connection,
                        "SELECT count(*) FROM pool_key WHERE jvm = (SELECT min(jvm) FROM jvm_key WHERE id = ?)",
                        jvmId)
                .intValue();
    }

    /** Returns whether a range has all rows of a resolution. */
    private boolean hasRows(int seconds, Instant from, Instant to) throws SQLException {
        String sql = "SELECT count(*) FROM gap WHERE seconds = ? AND stop > ? AND start < ?";
        return Sql.number(connection, sql, seconds, Resolution.first(from), to.getEpochSecond()) == 0;
    }

    /** Returns the JVM's number and finds out when it was recorded. */
    private int jvm(String jvmId) throws SQLException {
        int[] id = {-1};
        Sql.query(
                connection,
                row -> {
                    id[0] = row.getInt(1);
                    // The last second is written once a minute.
                    markRecorded(row.getInt(2), row.getInt(3) + 60);
                },
                "SELECT jvm, first_seen, last_seen FROM jvm_key WHERE id = ?",
                jvmId);
        return id[0];
    }

    private void markRecorded(int first, int last) throws SQLException {
        int from = Math.max(first, resolution.from());
        int to = Math.min(last, resolution.to());
        Sql.query(
                connection,
                row -> {
                    int begin = Math.max(from, row.getInt(1));
                    int end = Math.min(to, row.getInt(2));
                    if (begin < end) Arrays.fill(empty, resolution.index(begin), resolution.index(end - 1) + 1, 0);
                },
                "SELECT start, stop FROM recorded WHERE stop > ? AND start < ?",
                from,
                to);
    }

    PoolSeries pools() throws SQLException {
        Map<PoolId, PoolSeries.Row> rows = new HashMap<>();
        String sql = select(
                "pool",
                "series, sum(user_ns)::BIGINT, sum(system_ns)::BIGINT, sum(wait_ns)::BIGINT," + " max(threads)");
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SELECT r.*, k.pool, k.kind FROM (" + sql
                        + ") r(t, seconds, series, u, s, w, n)" + " JOIN pool_key k USING (series)")) {
            while (result.next()) {
                PoolId id = new PoolId(result.getString(8), kind(result.getString(9)));
                PoolSeries.Row row = rows.computeIfAbsent(
                        id,
                        key -> new PoolSeries.Row(
                                key.pool, key.kind, threads(), empty.clone(), empty.clone(), unknown()));
                int time = result.getInt(1);
                int seconds = result.getInt(2);
                add(row.userNanos(), time, seconds, result.getLong(4));
                add(row.systemNanos(), time, seconds, result.getLong(5));
                long wait = result.getLong(6);
                if (!result.wasNull()) add(row.waitNanos(), time, seconds, wait);
                int end = resolution.index(time + Math.max(1, seconds) - 1);
                for (int i = resolution.index(time); i <= end; i++)
                    row.threads()[i] = Math.max(row.threads()[i], result.getInt(7));
            }
        }
        List<PoolSeries.Row> sorted = new ArrayList<>(rows.values());
        sorted.sort(Comparator.comparingLong(PoolSeries.Row::cpuNanos)
                .reversed()
                .thenComparing(PoolSeries.Row::pool)
                .thenComparing(PoolSeries.Row::kind));
        return new PoolSeries(
                Instant.ofEpochSecond(resolution.from()),
                Instant.ofEpochSecond(resolution.to()),
                Duration.ofSeconds(resolution.step()),
                resolution.times(),
                sorted,
                totals());
    }

    private PoolSeries.Totals totals() throws SQLException {
        long[] user = empty.clone();
        long[] system = empty.clone();
        long[] container = unknown();
        long[] throttled = unknown();
        double[] limit = new double[resolution.steps()];
        Arrays.fill(limit, -1);
        String sql = select(
                "process",
                "jvm, sum(user_ns)::BIGINT, sum(system_ns)::BIGINT, sum(container_ns)::BIGINT,"
                        + " sum(throttled_ns)::BIGINT, max(cpu_limit)");
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            while (result.next()) {
                int time = result.getInt(1);
                int seconds = result.getInt(2);
                add(user, time, seconds, result.getLong(4));
                add(system, time, seconds, result.getLong(5));
                long containerNanos = result.getLong(6);
                if (!result.wasNull()) add(container, time, seconds, containerNanos);
                long throttledNanos = result.getLong(7);
                if (!result.wasNull()) add(throttled, time, seconds, throttledNanos);
                double max = result.getDouble(8);
                if (result.wasNull()) continue;
                int index = resolution.index(time);
                limit[index] = Math.max(limit[index], max);
            }
        }
        return new PoolSeries.Totals(user, system, container, throttled, limit);
    }

    ThreadSeries threads(int maxThreads) throws SQLException {
        Map<ThreadId, ThreadSeries.Row> rows = new HashMap<>();
        String sql = select("thread", "series, sum(user_ns)::BIGINT, sum(system_ns)::BIGINT");
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("""
                        WITH r(t, seconds, series, u, s) AS MATERIALIZED (%s),
                        busiest AS (SELECT k.tid, k.name, k.pool, k.kind FROM r JOIN thread_key k USING (series)
                            GROUP BY ALL ORDER BY sum(u + s) DESC, k.name LIMIT %d)
                        SELECT r.*, b.* FROM r JOIN thread_key k USING (series)
                            JOIN busiest b ON b.tid = k.tid AND b.name = k.name AND b.pool = k.pool AND b.kind = k.kind
                        """.formatted(sql, Math.max(0, maxThreads)))) {
            while (result.next()) {
                ThreadId id = new ThreadId(
                        result.getInt(6), result.getString(7), result.getString(8), kind(result.getString(9)));
                ThreadSeries.Row row = rows.computeIfAbsent(
                        id,
                        key -> new ThreadSeries.Row(
                                key.tid, key.name, key.pool, key.kind, empty.clone(), empty.clone()));
                add(row.userNanos(), result.getInt(1), result.getInt(2), result.getLong(4));
                add(row.systemNanos(), result.getInt(1), result.getInt(2), result.getLong(5));
            }
        }
        List<ThreadSeries.Row> sorted = new ArrayList<>(rows.values());
        sorted.sort(Comparator.comparingLong(ThreadSeries.Row::cpuNanos)
                .reversed()
                .thenComparing(ThreadSeries.Row::name)
                .thenComparing(ThreadSeries.Row::tid));
        return new ThreadSeries(
                Instant.ofEpochSecond(resolution.from()),
                Instant.ofEpochSecond(resolution.to()),
                Duration.ofSeconds(resolution.step()),
                resolution.times(),
                sorted);
    }

    /**
     * Returns a query for the steps' time, the seconds to spread the values over, or 0 if they belong to the step, and
     * columns that begin with the series.
     */
    private String select(String table, String columns) {
        String where =
                " WHERE jvm = %d AND time >= %d AND time < %d".formatted(jvm, resolution.from(), resolution.to());
        String step = "SELECT time // %1$d * %1$d AS t, 0, ".formatted(resolution.step());
        String group = " GROUP BY ALL";
        if (resolution.table() == 1) return step + columns + " FROM " + table + "_1" + where + group;
        String notRolled =
                step + columns + " FROM " + table + "_1" + where + " AND batch > (SELECT rolled FROM state)" + group;
        String rolled = step + columns + " FROM " + table + "_" + resolution.table() + where + group;
        if (resolution.table() == 60 || table.equals("thread")) return rolled + " UNION ALL " + notRolled;
        String sparse = " WHERE jvm = %d AND time > %d AND time < %d AND sparse"
                .formatted(jvm, resolution.from() - 60, resolution.to());
        return rolled + " UNION ALL " + notRolled + " UNION ALL SELECT time AS t, 60, " + columns + " FROM " + table
                + "_60" + sparse + group;
    }

    /** Adds a value to a step, or spreads it over several. The parts within the range add up to the whole. */
    private void add(long[] column, int time, int seconds, long value) {
        if (seconds == 0) {
            addTo(column, resolution.index(time), value);
            return;
        }
        long before = 0;
        for (int i = 1; i <= seconds; i++) {
            long now = value / seconds * i + value % seconds * i / seconds;
            int second = time + i - 1;
            if (second >= resolution.from() && second < resolution.to())
                addTo(column, resolution.index(second), now - before);
            before = now;
        }
    }

    private static void addTo(long[] column, int index, long value) {
        column[index] = Math.max(0, column[index]) + value;
    }

    private long[] unknown() {
        long[] column = new long[resolution.steps()];
        Arrays.fill(column, -1);
        return column;
    }

    private int[] threads() {
        int[] column = new int[resolution.steps()];
        Arrays.fill(column, -1);
        return column;
    }

    private static ThreadKind kind(String label) {
        return ThreadKind.valueOf(label.toUpperCase(Locale.ROOT));
    }
}
