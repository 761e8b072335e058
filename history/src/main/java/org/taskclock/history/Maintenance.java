// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Rolls up rows every hour, and deletes old ones every ten minutes, step by step, so that new samples can be written in
 * between. Used by one thread.
 */
final class Maintenance {
    private static final long ROLL_UP_NANOS = Duration.ofHours(1).toNanos();
    private static final long TRIM_NANOS = Duration.ofMinutes(10).toNanos();

    /** A file that is still too large is made smaller the next time. */
    private static final int MAX_TRIMS = 20;

    private final HistoryOptions options;
    private final Retention retention;
    private final SeriesKeys keys;
    private final Clock wallClock;
    private final LongSupplier nanoTime;

    /** Null until the file was first open. */
    private RetentionClock clock;

    private boolean hasRolledUp;
    private long rolledUpAt;
    private long trimmedAt;
    private int trims;

    Maintenance(HistoryOptions options, SeriesKeys keys, Clock wallClock, LongSupplier nanoTime) {
        this.options = options;
        retention = new Retention(options);
        this.keys = keys;
        this.wallClock = wallClock;
        this.nanoTime = nanoTime;
    }

    /**
     * Does the next step that is due.
     *
     * @return whether the step was the last one of a deletion, so that the oldest row may be a later one
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
        long now = now(writer, nanos);
        if (trims == 0) {
            writer.trimByAge(retention, now);
            trims = 1;
            return false;
        }
        if (trims <= MAX_TRIMS && writer.trimBySize(retention, now)) {
            trims++;
            return false;
        }
        trims = 0;
        trimmedAt = nanos;
        writer.saveRetentionTime(clock.time());
        keys.forget((int) (now - options.keepSeconds().toSeconds()));
        return true;
    }

    private long now(HistoryWriter writer, long nanos) throws SQLException {
        long wallTime = wallClock.instant().getEpochSecond();
        if (clock == null) clock = new RetentionClock(writer.retentionTime(), wallTime, nanos);
        return clock.now(wallTime, nanos);
    }

    /** Saves what the next process continues with. */
    void close(HistoryWriter writer) throws SQLException {
        now(writer, nanoTime.getAsLong());
        writer.saveRetentionTime(clock.time());
    }
}
