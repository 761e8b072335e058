// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.SQLException;
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

    void append(PendingRows.Batch rows) throws SQLException {
        appendPools(rows.pools());
        appendThreads(rows.threads());
        appendProcesses(rows.processes());
    }

    private void appendPools(List<Row> rows) throws SQLException {
        if (rows.isEmpty()) return;
        try (DuckDBAppender appender = appender("pool_1")) {
            for (Row row : rows) {
                appender.beginRow().append(batch(row)).append(row.time);
                appender.append(row.jvm)
                        .append(row.series)
                        .append(row.userNanos)
                        .append(row.systemNanos);
                append(appender, row.waitNanos).append(row.threads).endRow();
            }
            appender.flush();
        }
    }

    private void appendThreads(List<Row> rows) throws SQLException {
        if (rows.isEmpty()) return;
        try (DuckDBAppender appender = appender("thread_1")) {
            for (Row row : rows) {
                appender.beginRow().append(batch(row)).append(row.time).append(row.jvm);
                appender.append(row.series)
                        .append(row.userNanos)
                        .append(row.systemNanos)
                        .endRow();
            }
            appender.flush();
        }
    }

    private void appendProcesses(List<Row> rows) throws SQLException {
        if (rows.isEmpty()) return;
        try (DuckDBAppender appender = appender("process_1")) {
            for (Row row : rows) {
                appender.beginRow().append(batch(row)).append(row.time).append(row.jvm);
                appender.append(row.userNanos).append(row.systemNanos);
                append(append(appender, row.containerNanos), row.throttledNanos);
                if (row.limit < 0) appender.appendNull();
                else appender.append(row.limit);
                appender.endRow();
            }
            appender.flush();
        }
    }

    private static DuckDBAppender append(DuckDBAppender appender, long value) throws SQLException {
        return value < 0 ? appender.appendNull() : appender.append(value);
    }

    /** Returns an appender, which must be flushed before it is closed, because closing it hides failures. */
    private DuckDBAppender appender(String table) throws SQLException {
        return connection.createAppender(table);
    }

    /**
     * @param at the recorded time, which determines when marks are deleted, because clients can choose any clock time
     */
    void append(List<Mark> marks, long at) throws SQLException {
        if (marks.isEmpty()) return;
        try (DuckDBAppender appender = appender("mark_row")) {
            for (Mark mark : marks) {
                appender.beginRow().append(mark.time().toEpochMilli());
                append(appender, SeriesKeys.cut(mark.jvmId()));
                append(appender, SeriesKeys.cut(mark.kind()));
                append(appender, SeriesKeys.cut(mark.text())).append(at).endRow();
            }
            appender.flush();
        }
    }

    private static DuckDBAppender append(DuckDBAppender appender, String text) throws SQLException {
        return text == null ? appender.appendNull() : appender.append(text);
    }

    /** Appends the keys that have not been written yet. */
    void append(SeriesKeys keys) throws SQLException {
        if (!keys.newJvms.isEmpty()) {
            try (DuckDBAppender appender = appender("jvm_key")) {
                for (SeriesKeys.Jvm jvm : keys.newJvms) JvmRows.append(appender, jvm);
                appender.flush();
            }
        }
        if (!keys.newPools.isEmpty()) {
            try (DuckDBAppender appender = appender("pool_key")) {
                for (SeriesKeys.NewPool pool : keys.newPools) {
                    appender.beginRow().append(pool.series()).append(pool.jvm());
                    appender.append(pool.pool()).append(pool.kind().label()).endRow();
                }
                appender.flush();
            }
        }
        if (!keys.newThreads.isEmpty()) {
            try (DuckDBAppender appender = appender("thread_key")) {
                for (SeriesKeys.NewThread thread : keys.newThreads) {
                    appender.beginRow()
                            .append(thread.series())
                            .append(thread.jvm())
                            .append(thread.tid());
                    appender.append(thread.name()).append(thread.pool());
                    appender.append(thread.kind().label()).endRow();
                }
                appender.flush();
            }
        }
    }
}
