// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** What the writer thread does, step by step. */
final class StepwiseHistory implements AutoCloseable {
    final HistoryDatabase database;
    final SeriesKeys keys = new SeriesKeys();
    final HistoryWriter writer;
    private final PendingRows pending = new PendingRows(keys);

    StepwiseHistory(Path directory) throws SQLException, HistoryException {
        database = HistoryDatabase.open(directory);
        writer = new HistoryWriter(database.connection(), keys);
        writer.restoreKeys();
    }

    void add(HistorySample sample) {
        pending.add(sample);
    }

    void write() throws SQLException {
        write(pending.complete());
    }

    void writeAll() throws SQLException {
        write(pending.all());
    }

    private void write(PendingRows.Batch rows) throws SQLException {
        pending.remove(rows);
        writer.write(rows, List.of(), pending.oldestSecond(), pending.newestSecond());
        pending.resetOldestSecond();
    }

    /** Rolls up everything that was written but the last minute. */
    void rollUp() throws SQLException {
        boolean hasMore = true;
        while (hasMore) hasMore = writer.rollUp();
    }

    /** Returns a number; 0 if it is null. */
    long number(String sql) throws SQLException {
        try (Connection connection = database.reader();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            result.next();
            return result.getLong(1);
        }
    }

    @Override
    public void close() throws SQLException {
        writer.close();
        database.close();
    }
}
