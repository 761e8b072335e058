// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/**
 * Deletes old rows: by age, and if the file is too large, by size. A minute of the past is worth more than the same
 * minute in detail, so rows of ten seconds go first, then those of one second apart from the last ten minutes, and
 * those of one minute last; of each, the oldest first.
 */
final class Retention {
    /** The rest is for the log, and for blocks that are rewritten before the old ones are free. */
    private static final double USABLE_SHARE = 0.7;

    private static final int MIN_SECONDS = 600;

    /** How much of a table's time is deleted at once. */
    private static final int PARTS = 8;

    private final HistoryOptions options;

    Retention(HistoryOptions options) {
        this.options = options;
    }

    void deleteByAge(Connection connection, long now) throws SQLException {
        RollUp.deleteSeconds(connection, before(now, options.keepSeconds()));
        RollUp.deleteTenSeconds(connection, before(now, options.keepTenSeconds()));
        RollUp.deleteMinutes(connection, before(now, options.keepMinutes()));
        RollUp.deleteKeys(connection, before(now, options.keepSeconds()));
    }

    private static int before(long now, Duration kept) {
        return (int) Math.max(0, Math.min(Integer.MAX_VALUE, now - kept.toSeconds()));
    }

    /**
     * Deletes one part of the rows if the file is too large.
     *
     * @param bytes the size of the blocks in use
     * @return whether anything was deleted, and the size should be checked again
     */
    boolean deleteBySize(Connection connection, long bytes, long now) throws SQLException {
        if (bytes <= options.maxBytes() * USABLE_SHARE) return false;
        int[] tens = range(connection, "pool_10", "process_10", "thread_10");
        if (tens != null) {
            RollUp.deleteTenSeconds(connection, end(tens));
            return true;
        }
        int[] seconds = range(connection, "pool_1", "process_1", "thread_1");
        int lastMinutes = before(now, Duration.ofSeconds(MIN_SECONDS));
        if (seconds != null && seconds[0] < lastMinutes / 60 * 60 && isRolledUp(connection, seconds[0])) {
            RollUp.deleteSeconds(connection, Math.min(end(seconds), lastMinutes));
            return true;
        }
        int[] minutes = range(connection, "pool_60", "process_60", "thread_60");
        if (minutes == null) return false;
        RollUp.deleteMinutes(connection, end(minutes));
        return true;
    }

    private static boolean isRolledUp(Connection connection, int before) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SELECT count(*) FROM pool_1 WHERE time <= " + before
                        + " AND batch <= (SELECT rolled FROM state)")) {
            result.next();
            return result.getLong(1) > 0;
        }
    }

    /** Returns the end of the oldest part, on the next minute. */
    private static int end(int... range) {
        return range[0] / 60 * 60 + Math.max(60, (range[1] - range[0]) / PARTS / 60 * 60);
    }

    private static int[] range(Connection connection, String... tables) throws SQLException {
        int first = Integer.MAX_VALUE;
        int last = Integer.MIN_VALUE;
        for (String table : tables) {
            try (Statement statement = connection.createStatement();
                    ResultSet result = statement.executeQuery("SELECT min(time), max(time) FROM " + table)) {
                result.next();
                int min = result.getInt(1);
                if (result.wasNull()) continue;
                first = Math.min(first, min);
                last = Math.max(last, result.getInt(2));
            }
        }
        return first <= last ? new int[] {first, last} : null;
    }
}
