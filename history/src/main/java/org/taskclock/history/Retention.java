// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Deletes old rows: by age, and if the file is too large, by size. A minute of the past is worth more than the same
 * minute in detail, so rows of ten seconds go first, then those of one second apart from the last ten minutes, and
 * those of one minute last; of each, the oldest first.
 */
final class Retention {
    /** The rest is for the log, and for blocks that are rewritten before the old ones are free. */
    private static final double USABLE_SHARE = 0.7;

    private static final int MIN_SECONDS = 600;

    /** The share of the rows that is deleted at once. */
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
        int tens = endOfPart(connection, "pool_10", "process_10", "thread_10");
        if (tens > 0) {
            RollUp.deleteTenSeconds(connection, tens);
            return true;
        }
        int first = first(connection, "pool_1", "process_1", "thread_1");
        int lastMinutes = before(now, Duration.ofSeconds(MIN_SECONDS));
        if (first < lastMinutes / 60 * 60 && isRolledUp(connection, first)) {
            int seconds = endOfPart(connection, "pool_1", "process_1", "thread_1");
            RollUp.deleteSeconds(connection, Math.min(seconds, lastMinutes));
            return true;
        }
        int minutes = endOfPart(connection, "pool_60", "process_60", "thread_60");
        if (minutes == 0) return false;
        RollUp.deleteMinutes(connection, minutes);
        return true;
    }

    private static boolean isRolledUp(Connection connection, int before) throws SQLException {
        return number(
                        connection,
                        "SELECT count(*) FROM pool_1 WHERE time <= " + before
                                + " AND batch <= (SELECT rolled FROM state)")
                > 0;
    }

    /**
     * Returns the minute until which the oldest part of the rows reaches; 0 if there are no rows. A part has an eighth
     * of the rows, and not of the time: a single row from when the clock was wrong would make that too long.
     */
    private static int endOfPart(Connection connection, String... tables) throws SQLException {
        String counts = Arrays.stream(tables)
                .map(table -> "SELECT time // 60 AS minute, count(*) AS n FROM " + table + " GROUP BY minute")
                .collect(Collectors.joining(" UNION ALL "));
        return number(connection, """
                SELECT coalesce(min(minute) * 60 + 60, 0) FROM (
                    SELECT minute, sum(sum(n)) OVER (ORDER BY minute) AS until, sum(sum(n)) OVER () AS total
                    FROM (%s) GROUP BY minute)
                WHERE until * %d >= total
                """.formatted(counts, PARTS));
    }

    /** Returns the time of the oldest row; {@code Integer.MAX_VALUE} if there is none. */
    private static int first(Connection connection, String... tables) throws SQLException {
        String times = Arrays.stream(tables)
                .map(table -> "SELECT min(time) AS time FROM " + table)
                .collect(Collectors.joining(" UNION ALL "));
        return number(connection, "SELECT coalesce(min(time), " + Integer.MAX_VALUE + ") FROM (" + times + ")");
    }

    private static int number(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            result.next();
            return result.getInt(1);
        }
    }
}
