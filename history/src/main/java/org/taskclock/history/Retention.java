// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Deletes old rows: by age, and if the files are too large, by size. The age of a row is the time that was recorded
 * since, see {@link RecordedTime}. A longer history is more useful than a detailed one, so profiles are deleted first,
 * then rows of ten seconds, then those of one second apart from the last ten minutes, and those of one minute last; of
 * each, those that were recorded first.
 */
final class Retention {
    /** The rest is reserved for the log, and for blocks that are rewritten before the old ones are freed. */
    private static final double USABLE_SHARE = 0.7;

    private static final int MIN_SECONDS = 600;

    /** The share of the rows to delete at a time. */
    private static final int PARTS = 8;

    /** The number of marks to keep. Each takes at most two kilobytes. */
    static final int MAX_MARKS = 100_000;

    private final HistoryOptions options;

    Retention(HistoryOptions options) {
        this.options = options;
    }

    /** @param jvms the numbers of JVMs for which rows may still be written */
    void deleteByAge(Connection connection, Collection<Integer> jvms) throws SQLException {
        RecordedTime time = new RecordedTime(connection);
        deleteSeconds(connection, time, time.now() - options.keepSeconds().toSeconds());
        deleteTenSeconds(connection, time, time.now() - options.keepTenSeconds().toSeconds());
        deleteMinutes(connection, time, time.now() - options.keepMinutes().toSeconds());
        Sql.execute(
                connection,
                "DELETE FROM mark_row WHERE rowid IN"
                        + " (SELECT rowid FROM mark_row ORDER BY clock DESC, rowid DESC OFFSET " + MAX_MARKS + ")");
        RollUp.deleteKeys(connection, jvms);
        // Without rows, the recorded times are no longer needed.
        Sql.execute(connection, "DELETE FROM recorded WHERE clock + stop - start <= " + oldest(connection));
    }

    /** Returns the recorded time before which there are no rows of any resolution. */
    private static long oldest(Connection connection) throws SQLException {
        return Sql.number(connection, "SELECT least(deleted_1, deleted_10, deleted_60) FROM state");
    }

    private static void deleteSeconds(Connection connection, RecordedTime time, long before) throws SQLException {
        List<RecordedTime.Range> ranges = time.before(deleted(connection, 1, before));
        RollUp.deleteSeconds(connection, ranges);
        saveDeleted(connection, time, 1, ranges);
    }

    private static void deleteTenSeconds(Connection connection, RecordedTime time, long before) throws SQLException {
        List<RecordedTime.Range> ranges = time.before(deleted(connection, 10, before));
        RollUp.deleteTenSeconds(connection, ranges);
        saveDeleted(connection, time, 10, ranges);
    }

    private static void deleteMinutes(Connection connection, RecordedTime time, long before) throws SQLException {
        long recorded = deleted(connection, 60, before);
        RollUp.deleteMinutes(connection, time.before(recorded));
        Sql.execute(connection, "DELETE FROM mark_row WHERE clock < " + recorded);
    }

    /** Returns the later of two recorded times: that before which rows were already deleted, and {@code before}. */
    private static long deleted(Connection connection, int seconds, long before) throws SQLException {
        String column = "deleted_" + seconds;
        Sql.execute(connection, "UPDATE state SET " + column + " = greatest(" + column + ", " + before + ")");
        return Sql.number(connection, "SELECT " + column + " FROM state");
    }

    /** Records which rows are missing, so that coarser ones are shown instead. */
    private static void saveDeleted(
            Connection connection, RecordedTime time, int seconds, List<RecordedTime.Range> ranges)
            throws SQLException {
        List<RecordedTime.Range> all = new ArrayList<>(ranges);
        Sql.query(
                connection,
                row -> all.add(new RecordedTime.Range(row.getInt(1), row.getInt(2))),
                "SELECT start, stop FROM gap WHERE seconds = ?",
                seconds);
        List<RecordedTime.Range> missing = time.known(RecordedTime.merged(all, 0));
        Sql.execute(connection, "DELETE FROM gap WHERE seconds = " + seconds);
        for (RecordedTime.Range range : missing)
            Sql.execute(
                    connection,
                    "INSERT INTO gap VALUES (" + seconds + ", " + range.start() + ", " + range.stop() + ")");
    }

    /** Returns whether rows should be deleted because of their size in bytes, given that of other files. */
    boolean isTooLarge(long bytes, long otherBytes) {
        long available = Math.max(options.maxBytes() / 2, options.maxBytes() - otherBytes);
        return bytes > available * USABLE_SHARE;
    }

    /**
     * Deletes one part of the rows, because the files are too large.
     *
     * @return whether anything was deleted, so that the size should be checked again
     */
    boolean deleteBySize(Connection connection) throws SQLException {
        RecordedTime time = new RecordedTime(connection);
        long profiles = endOfPart(connection, "profile_60");
        if (profiles > 0) {
            RollUp.deleteProfiles(connection, time.before(profiles));
            return true;
        }
        long tens = endOfPart(connection, "pool_10", "process_10", "thread_10");
        if (tens > 0) {
            deleteTenSeconds(connection, time, tens);
            return true;
        }
        long seconds = Math.min(endOfPart(connection, "pool_1", "process_1", "thread_1"), time.now() - MIN_SECONDS);
        if (seconds >= Sql.number(connection, "SELECT deleted_1 + 60 FROM state")) {
            deleteSeconds(connection, time, seconds);
            return true;
        }
        long minutes = endOfPart(connection, "pool_60", "process_60", "thread_60");
        if (minutes == 0) return false;
        deleteMinutes(connection, time, minutes);
        return true;
    }

    /**
     * Returns the recorded time at which the oldest part of the rows ends; 0 if there are no rows. A part is an eighth
     * of the rows rather than of the time, because rows may be unevenly distributed.
     */
    private static long endOfPart(Connection connection, String... tables) throws SQLException {
        String counts = Arrays.stream(tables)
                .map(table -> "SELECT time // 60 * 60 AS minute, count(*) AS n FROM " + table + " GROUP BY minute")
                .collect(Collectors.joining(" UNION ALL "));
        return Sql.number(connection, """
                WITH counts AS (SELECT minute, sum(n) AS n FROM (%s) GROUP BY minute),
                ages AS (SELECT max(clock + least(stop, minute + 60) - start) AS clock, any_value(n) AS n
                    FROM counts JOIN recorded ON minute < stop AND minute + 60 > start GROUP BY minute)
                SELECT coalesce(min(clock), 0) FROM (
                    SELECT clock, sum(n) OVER (ORDER BY clock) AS until, sum(n) OVER () AS total FROM ages)
                WHERE until * %d >= total
                """.formatted(counts, PARTS));
    }
}
