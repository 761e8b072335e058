// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.duckdb.DuckDBConnection;
import org.taskclock.monitor.recording.Mark;

/** Writes rows, keys, and marks to the file, one transaction at a time. Used by one thread. */
final class HistoryWriter implements AutoCloseable {
    private final DuckDBConnection connection;
    private final SeriesKeys keys;
    private final ProfileWriter profiles;

    /** A longer pause between samples is a gap in the history. */
    static final int MAX_GAP_SECONDS = 15;

    /** The number of the current batch, which is incremented each minute. */
    private int batch;

    private int minute = Integer.MIN_VALUE;

    /**
     * The current row of the table of recorded times.
     *
     * @param to the last second of the latest sample, which is earlier than {@code stop} if the clock was set back
     */
    private record Recorded(int start, int stop, int to, long at) {
        long now() {
            return at + stop - start;
        }
    }

    /** Empty, and without a row, before the first sample. */
    private Recorded recorded;

    private long transaction;

    HistoryWriter(DuckDBConnection connection, SeriesKeys keys) throws SQLException {
        this.connection = connection;
        this.keys = keys;
        connection.setAutoCommit(false);
        batch = max("rolled", "state");
        for (String table : List.of("pool_1", "process_1", "thread_1")) batch = Math.max(batch, max("batch", table));
        batch++;
        transaction = Sql.number(connection, "SELECT transaction FROM state");
        recorded = new Recorded(0, 0, Integer.MIN_VALUE, new RecordedTime(connection).now());
        profiles = new ProfileWriter(connection);
        connection.commit();
    }

    private int max(String column, String table) throws SQLException {
        Long max = Sql.number(connection, "SELECT max(" + column + ") FROM " + table);
        return max == null ? 0 : max.intValue();
    }

    /** Continues with the keys in the file. */
    void restoreKeys() throws SQLException {
        Map<String, SeriesKeys.Jvm> known = new HashMap<>();
        Sql.query(
                connection,
                row -> {
                    SeriesKeys.Jvm jvm =
                            new SeriesKeys.Jvm(row.getInt("jvm"), RowAppender.jvmKey(row), row.getInt("first_seen"));
                    jvm.lastSeen = row.getInt("last_seen");
                    known.put(jvm.key.id(), jvm);
                },
                "FROM jvm_key");
        keys.restore(known, max("jvm", "jvm_key"), max("series", "pool_key"), max("series", "thread_key"));
        connection.commit();
    }

    /**
     * Writes rows and marks in one transaction.
     *
     * @param oldestSecond the first second of the samples since the last transaction
     * @param newestSecond the last second of the latest sample; {@code Integer.MIN_VALUE} if there is none
     */
    void write(PendingRows.Batch rows, List<Mark> marks, int oldestSecond, int newestSecond) throws SQLException {
        boolean hasSamples = newestSecond != Integer.MIN_VALUE;
        int newMinute = hasSamples ? Math.floorDiv(newestSecond, 60) : minute;
        int newBatch = newMinute == minute ? batch : batch + 1;
        transaction++;
        // Comes first, because statements make the driver begin a transaction, but appenders do not.
        Sql.execute(connection, "UPDATE state SET transaction = " + transaction);
        RowAppender appender = new RowAppender(connection, minute, batch, newBatch);
        appender.append(keys);
        appender.append(rows);
        appender.append(marks, recorded.now());
        if (newBatch != batch) updateLastSeen();
        Recorded now = hasSamples ? writeRecorded(Math.min(oldestSecond, newestSecond), newestSecond) : recorded;
        connection.commit();
        keys.removeWritten();
        recorded = now;
        minute = newMinute;
        batch = newBatch;
    }

    /** Writes a profile in a transaction of its own: if it fails, only the profile is lost. */
    void write(HistoryProfile profile) throws SQLException {
        SeriesKeys.Jvm jvm = keys.jvms().get(profile.jvm().id());
        if (jvm == null) return;
        profiles.write(profile, jvm.id);
        connection.commit();
    }

    /** Returns the connection, for tests. */
    DuckDBConnection connection() {
        return connection;
    }

    /** Returns the number of the last transaction, which may have failed. */
    long transaction() {
        return transaction;
    }

    private void updateLastSeen() throws SQLException {
        if (keys.jvms().isEmpty()) return;
        String values = keys.jvms().values().stream()
                .map(jvm -> "(" + jvm.id + "," + jvm.lastSeen + ")")
                .collect(Collectors.joining(","));
        Sql.execute(
                connection,
                "UPDATE jvm_key SET last_seen = v.seen FROM (VALUES " + values
                        + ") v(jvm, seen) WHERE jvm_key.jvm = v.jvm AND jvm_key.last_seen < v.seen");
    }

    /** Extends the current range of recorded time, or begins a new one after a gap. */
    private Recorded writeRecorded(int oldestSecond, int newestSecond) throws SQLException {
        int stop = newestSecond + 1;
        boolean isContinued = recorded.stop > 0 && Math.abs(newestSecond - recorded.to) <= MAX_GAP_SECONDS;
        if (isContinued) {
            Sql.execute(
                    connection, "UPDATE recorded SET stop = greatest(stop, " + stop + ") WHERE clock = " + recorded.at);
            return new Recorded(recorded.start, Math.max(recorded.stop, stop), newestSecond, recorded.at);
        }
        Sql.execute(
                connection, "INSERT INTO recorded VALUES (" + oldestSecond + ", " + stop + ", " + recorded.now() + ")");
        return new Recorded(oldestSecond, stop, newestSecond, recorded.now());
    }

    /**
     * Adds rows of complete minutes to the coarser tables.
     *
     * @return whether there are more
     */
    boolean rollUp() throws SQLException {
        boolean hasMore = RollUp.run(connection, batch - 1);
        connection.commit();
        return hasMore;
    }

    /** Deletes rows that are too old. */
    void trimByAge(Retention retention) throws SQLException {
        retention.deleteByAge(connection, keys.numbers());
        profiles.clean(new RecordedTime(connection).now());
        connection.commit();
    }

    /**
     * Deletes a part of the rows.
     *
     * @return whether rows were deleted, and the size should be checked again
     */
    boolean trimBySize(Retention retention) throws SQLException {
        boolean isDeleted = retention.deleteBySize(connection);
        connection.commit();
        if (isDeleted) checkpoint();
        return isDeleted;
    }

    /** Returns the size of the blocks in use. The file does not always shrink when blocks are freed. */
    long usedBytes() throws SQLException {
        return Sql.number(connection, "SELECT used_blocks * block_size FROM pragma_database_size()");
    }

    /** Frees the blocks of deleted rows, unless a query is using them. */
    void checkpoint() throws SQLException {
        Sql.execute(connection, "CHECKPOINT");
        connection.commit();
    }

    /** Returns the time of the oldest row; null if there is none. */
    Instant since() throws SQLException {
        Long second = Sql.number(
                connection,
                "SELECT min(t) FROM (SELECT min(time) AS t FROM pool_1 UNION ALL SELECT min(time) FROM pool_60)");
        connection.commit();
        return second == null ? null : Instant.ofEpochSecond(second);
    }

    @Override
    public void close() throws SQLException {
        try {
            updateLastSeen();
            connection.commit();
        } finally {
            connection.close();
        }
    }

    /** Closes the connection after a failure. */
    void abandon() {
        try {
            connection.close();
        } catch (SQLException e) {
            // Its transaction is lost in any case.
        }
    }
}
