// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;
import org.taskclock.monitor.recording.Mark;

/** Appends rows, keys, and marks to the tables, within a transaction. */
final class RowAppender {
    private final DuckDBConnection connection;
    private final int previousMinute;
    private final int previousBatch;
    private final int batch;

    /**
     * Creates an appender.
     *
     * @param previousMinute the minute since 1970 of the previous batch; its rows still belong to that batch, so that
     *     batches begin at full minutes
     * @param batch the batch of all other rows
     */
    RowAppender(DuckDBConnection connection, int previousMinute, int previousBatch, int batch) {
        this.connection = connection;
        this.previousMinute = previousMinute;
        this.previousBatch = previousBatch;
        this.batch = batch;
    }

    private int batch(Row row) {
        return Math.floorDiv(row.time, 60) == previousMinute ? previousBatch : batch;
    }

    /** Appends the columns of a row. */
    interface Columns<T> {
        void append(DuckDBAppender appender, T row) throws SQLException;
    }

    <T> void append(String table, List<T> rows, Columns<T> columns) throws SQLException {
        if (rows.isEmpty()) return;
        try (DuckDBAppender appender = connection.createAppender(table)) {
            for (T row : rows) {
                appender.beginRow();
                columns.append(appender, row);
                appender.endRow();
            }
            appender.flush(); // closing it would hide failures
        }
    }

    void append(PendingRows.Batch rows) throws SQLException {
        append("pool_1", rows.pools(), (appender, row) -> {
            append(appender, row, row.series);
            append(appender, row.waitNanos).append(row.threads);
        });
        append("thread_1", rows.threads(), (appender, row) -> append(appender, row, row.series));
        append("process_1", rows.processes(), (appender, row) -> {
            append(appender, row, 0);
            append(append(appender, row.containerNanos), row.throttledNanos);
            if (row.limit < 0) appender.appendNull();
            else appender.append(row.limit);
        });
    }

    /** Appends what all rows have; the rows of processes have no series. */
    private void append(DuckDBAppender appender, Row row, int series) throws SQLException {
        appender.append(batch(row)).append(row.time).append(row.jvm);
        if (series != 0) appender.append(series);
        appender.append(row.userNanos).append(row.systemNanos);
    }

    private static DuckDBAppender append(DuckDBAppender appender, long value) throws SQLException {
        return value < 0 ? appender.appendNull() : appender.append(value);
    }

    /**
     * @param at the recorded time, which determines when marks are deleted, because clients can choose any clock time
     */
    void append(List<Mark> marks, long at) throws SQLException {
        append("mark_row", marks, (appender, mark) -> {
            appender.append(mark.time().toEpochMilli());
            append(append(append(appender, mark.jvmId()), mark.kind()), mark.text())
                    .append(at);
        });
    }

    private static DuckDBAppender append(DuckDBAppender appender, String text) throws SQLException {
        return text == null ? appender.appendNull() : appender.append(SeriesKeys.cut(text));
    }

    /** Appends the keys that have not been written yet. */
    void append(SeriesKeys keys) throws SQLException {
        append("jvm_key", keys.newJvms, RowAppender::append);
        append("pool_key", keys.newPools, (appender, pool) -> {
            appender.append(pool.series()).append(pool.jvm());
            appender.append(pool.pool()).append(pool.kind().label());
        });
        append("thread_key", keys.newThreads, (appender, thread) -> {
            appender.append(thread.series()).append(thread.jvm()).append(thread.tid());
            appender.append(thread.name()).append(thread.pool());
            appender.append(thread.kind().label());
        });
    }

    private static void append(DuckDBAppender appender, SeriesKeys.Jvm jvm) throws SQLException {
        JvmKey key = jvm.key;
        append(append(appender.append(jvm.id), key.id()), key.host()).append(key.pid());
        append(append(appender, key.service()), key.command());
        append(append(appender, key.containerId()), key.podUid());
        if (key.started() == null) appender.appendNull();
        else appender.append(key.started().toEpochMilli());
        appender.append(jvm.firstSeen).append(jvm.lastSeen);
    }

    /** Returns the identity in a row of the table of JVMs. */
    static JvmKey jvmKey(ResultSet row) throws SQLException {
        long started = row.getLong("started");
        boolean isStartKnown = !row.wasNull();
        return new JvmKey(
                row.getString("id"),
                row.getString("host"),
                row.getLong("pid"),
                row.getString("service"),
                row.getString("command"),
                row.getString("container"),
                row.getString("pod"),
                isStartKnown ? Instant.ofEpochMilli(started) : null);
    }
}
