// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.duckdb.DuckDBConnection;
import org.taskclock.metrics.ThreadKind;

/** Writes profiles, whose CPU time is that of the pools in the rows that have already been written. */
final class ProfileWriter {
    /** Unused stacks are deleted after so much recorded time, because looking for them reads all rows. */
    private static final long CLEANING_SECONDS = 86_400;

    /** Similar values next to each other compress better. */
    private static final Comparator<List<Integer>> ORDER = Comparator.comparing((List<Integer> row) -> row.get(0))
            .thenComparing(row -> row.get(1))
            .thenComparing(row -> row.get(2));

    private record Row(int time, int series, int stack, long cpuNanos, long samples) {
        Row plus(Row other) {
            return new Row(time, series, stack, cpuNanos + other.cpuNanos, samples + other.samples);
        }
    }

    private final DuckDBConnection connection;
    private final StackKeys stacks;

    /** The recorded time of the last deletion of unused stacks; -1 if there was none. */
    private long cleanedAt = -1;

    ProfileWriter(DuckDBConnection connection) throws SQLException {
        this.connection = connection;
        stacks = new StackKeys(connection);
    }

    /**
     * Adds the rows of a profile to the current transaction.
     *
     * @param jvm the number of the JVM
     */
    void write(HistoryProfile profile, int jvm) throws SQLException {
        // Makes the driver begin a transaction, which appenders do not.
        Map<Integer, List<ProfileRows.Pool>> minutes = pools(profile, jvm);
        stacks.makeRoom(jvm, minutes.size());
        Map<List<Integer>, Row> rows = new TreeMap<>(ORDER);
        int given = 0;
        for (Map.Entry<Integer, List<ProfileRows.Pool>> minute : minutes.entrySet()) {
            int until = given + 1;
            for (ProfileRows.Row row : ProfileRows.of(profile.stacks(), minute.getValue())) {
                long samples = row.samples() * until / minutes.size() - row.samples() * given / minutes.size();
                int stack = stacks.number(jvm, row.frames());
                Row added = new Row(minute.getKey(), row.series(), stack, row.cpuNanos(), samples);
                rows.merge(List.of(added.time, added.series, stack), added, Row::plus);
            }
            given = until;
        }
        RowAppender appender = new RowAppender(connection, 0, 0, 0);
        stacks.append(appender);
        appender.append("profile_60", List.copyOf(rows.values()), (out, row) -> out.append(row.time)
                .append(jvm)
                .append(row.series)
                .append(row.stack)
                .append(row.cpuNanos)
                .append(row.samples));
    }

    /** Returns the pools that used CPU time in each minute. */
    private Map<Integer, List<ProfileRows.Pool>> pools(HistoryProfile profile, int jvm) throws SQLException {
        Map<Integer, List<ProfileRows.Pool>> minutes = new TreeMap<>();
        Sql.query(
                connection,
                row -> minutes.computeIfAbsent(row.getInt("minute"), minute -> new ArrayList<>())
                        .add(new ProfileRows.Pool(
                                row.getInt("series"),
                                row.getString("pool"),
                                ThreadKind.valueOf(row.getString("kind").toUpperCase(Locale.ROOT)),
                                row.getLong("u"),
                                row.getLong("s"))),
                """
                SELECT t.time // 60 * 60 AS minute, max(p.series) AS series, p.pool, p.kind,
                    sum(t.user_ns)::BIGINT AS u, sum(t.system_ns)::BIGINT AS s
                FROM pool_1 t JOIN pool_key p ON p.series = t.series
                WHERE t.jvm = ? AND t.time >= ? AND t.time < ? AND p.kind != 'account'
                GROUP BY minute, p.pool, p.kind
                """,
                jvm,
                profile.from().getEpochSecond(),
                profile.to().getEpochSecond());
        return minutes;
    }

    /** Deletes the stacks that no row needs, but not too often. */
    void clean(long recordedNow) throws SQLException {
        if (cleanedAt >= 0 && recordedNow - cleanedAt < CLEANING_SECONDS) return;
        stacks.deleteUnused(connection);
        cleanedAt = recordedNow;
    }
}
