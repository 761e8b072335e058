// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.SQLException;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Rolls up rows every hour, and deletes old ones every ten minutes, step by step, so that new samples can be written in
 * between. Used by one thread.
 */
final class Maintenance {
    private static final long ROLL_UP_NANOS = Duration.ofHours(1).toNanos();
    private static final long TRIM_NANOS = Duration.ofMinutes(10).toNanos();

    /** If the file is still too large, the next run continues. */
    private static final int MAX_TRIMS = 100;

    private final long maxBytes;
    private final Retention retention;
    private final SeriesKeys keys;
    private final HistoryDatabase database;
    private final LongSupplier nanoTime;
    private boolean hasRolledUp;
    private long rolledUpAt;
    private long trimmedAt;
    private int trims;

    Maintenance(HistoryOptions options, SeriesKeys keys, HistoryDatabase database, LongSupplier nanoTime) {
        maxBytes = options.maxBytes();
        retention = new Retention(options);
        this.keys = keys;
        this.database = database;
        this.nanoTime = nanoTime;
    }

    /**
     * Does the next step that is due.
     *
     * @return whether the step completed a deletion, so that the oldest row may have changed
     */
    boolean run(HistoryWriter writer) throws SQLException {
        long nanos = nanoTime.getAsLong();
        if (!hasRolledUp || nanos - rolledUpAt >= ROLL_UP_NANOS) {
            if (writer.rollUp()) return false;
            hasRolledUp = true;
            rolledUpAt = nanos;
            trimmedAt = nanos - TRIM_NANOS;
            return false;
        }
        if (nanos - trimmedAt < TRIM_NANOS) return false;
        if (trims == 0) {
            writer.trimByAge(retention);
            trims = 1;
            return false;
        }
        if (trims <= MAX_TRIMS && isTooLarge(writer)) {
            // Only rows that have been rolled up may be deleted.
            if (trims == 1 && writer.rollUp()) return false;
            if (writer.trimBySize(retention)) {
                trims++;
                return false;
            }
        }
        trims = 0;
        trimmedAt = nanos;
        keys.forget();
        return true;
    }

    private boolean isTooLarge(HistoryWriter writer) throws SQLException {
        long used = writer.usedBytes();
        long other = database.otherBytes();
        // Damaged files are deleted before rows.
        if ((retention.isTooLarge(used, other) || used + other > maxBytes) && database.deleteDamaged())
            other = database.otherBytes();
        return retention.isTooLarge(used, other);
    }
}
