// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.monitor.usage.DaemonThread;

/** Writes pending data every few seconds, and limits the size of the file. */
final class WriterThread implements AutoCloseable {
    /**
     * Together with the newest second, which is held back, and two seconds for the transaction, samples are written
     * within five seconds.
     */
    static final long PERIOD_NANOS = Duration.ofSeconds(2).toNanos();

    /** Rolling up and deleting many rows takes seconds. */
    private static final long MAX_BUSY_SECONDS = 120;

    private static final long RETRY_NANOS = Duration.ofSeconds(10).toNanos();

    /** About a minute of 50 JVMs. */
    private static final int MAX_QUEUE = 3_000;

    private final HistoryDatabase database;
    private final SeriesKeys keys = new SeriesKeys();
    private final PendingRows pending = new PendingRows(keys);
    private final PendingProfiles profiles = new PendingProfiles();
    private final Maintenance maintenance;
    private final Thread thread = new DaemonThread(this::run, "taskclock-history");

    /** Guards the following three fields. */
    private final Object monitor = new Object();

    private Queue<HistorySample> samples = new ArrayDeque<>();
    private List<Mark> marks = new ArrayList<>();
    private boolean isClosing;

    private final List<Mark> pendingMarks = new ArrayList<>();

    /** Null while the file cannot be written. */
    private HistoryWriter writer;

    /** The rows and the number of a failed transaction, which may have been written nevertheless. */
    private PendingRows.Batch failedRows;

    private List<Mark> failedMarks = List.of();
    private long failedTransaction;

    private boolean areKeysRestored;

    /** When the next transaction is due, as of System.nanoTime. */
    private long due;

    private long failedAt;
    private volatile boolean isDamaged;
    private volatile String problem;
    private final AtomicLong lostSamples = new AtomicLong();
    private volatile Instant since;

    /** When the thread last finished its work, as of System.nanoTime. */
    private volatile long aliveAt = System.nanoTime();

    WriterThread(HistoryDatabase database, HistoryOptions options) {
        this.database = database;
        maintenance = new Maintenance(options, keys, database, System::nanoTime);
    }

    void start() {
        thread.start();
    }

    void add(HistorySample sample) {
        synchronized (monitor) {
            if (isClosing) return;
            if (samples.size() >= MAX_QUEUE) {
                samples.remove();
                lostSamples.incrementAndGet();
            }
            samples.add(sample);
        }
    }

    void add(Mark mark) {
        synchronized (monitor) {
            if (!isClosing && marks.size() < MAX_QUEUE) marks.add(mark);
        }
    }

    void add(HistoryProfile profile) {
        profiles.add(profile);
    }

    HistoryStatus status() {
        return new HistoryStatus(failure(), database.bytes(), since, database.setAsideName(), lostSamples.get());
    }

    /** Returns why nothing is written; null if all is well. */
    private String failure() {
        String reported = problem;
        if (reported != null) return reported;
        if (!thread.isAlive()) return "the thread that writes has ended";
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - aliveAt);
        return seconds < MAX_BUSY_SECONDS ? null : "the thread that writes has been busy for " + seconds + " s";
    }

    /** Called by any thread. */
    void readFailed(SQLException e) {
        if (Failures.isDamage(e) && Failures.isDamageOfContent(e)) isDamaged = true;
    }

    private void run() {
        due = System.nanoTime() + PERIOD_NANOS;
        while (true) {
            boolean isLast = await();
            try {
                flush(isLast);
                if (!isLast) maintain();
            } catch (Throwable e) {
                // Includes errors: after one, such as a lack of memory, the next samples may be written successfully.
                failUnexpectedly(e);
            }
            aliveAt = System.nanoTime();
            if (isLast) return;
        }
    }

    /** Handles an unexpected failure. Must not itself fail if memory is short. */
    private void failUnexpectedly(Throwable e) {
        try {
            fail(new SQLException("internal error: " + e, e));
        } catch (Throwable again) {
            problem = "internal error";
            failedAt = System.nanoTime();
            writer = null;
        }
    }

    /** Waits for the end of the period, and returns whether the history is being closed. */
    private boolean await() {
        synchronized (monitor) {
            for (long left = due - System.nanoTime(); !isClosing && left > 0; left = due - System.nanoTime()) {
                try {
                    monitor.wait(left / 1_000_000 + 1);
                } catch (InterruptedException e) {
                    isClosing = true;
                }
            }
            // Counted from the start of the work, so that long work is not followed by a long pause.
            due = Math.max(due + PERIOD_NANOS, System.nanoTime());
            return isClosing;
        }
    }

    private void flush(boolean isLast) {
        Queue<HistorySample> added;
        synchronized (monitor) {
            added = samples;
            samples = new ArrayDeque<>();
            pendingMarks.addAll(marks);
            marks = new ArrayList<>();
        }
        boolean isBroken = writer == null && failedAt != 0 && System.nanoTime() - failedAt < RETRY_NANOS;
        if (!isBroken || isLast) openWriter();
        int lost = added.size();
        try {
            for (HistorySample sample : added) {
                try {
                    pending.add(sample);
                    lost--;
                } catch (RuntimeException e) {
                    // A failure in the data of one JVM must not affect the others.
                    problem = "internal error: " + e;
                }
            }
        } finally {
            lostSamples.addAndGet(lost);
        }
        if (writer != null) write(added.isEmpty() || isLast ? pending.all() : pending.complete());
        if (writer != null) writeProfiles();
        lostSamples.addAndGet(pending.dropExcess());
        if (isLast && writer != null) closeWriter();
    }

    private void openWriter() {
        if (isDamaged) {
            isDamaged = false;
            if (writer != null) writer.abandon();
            writer = null;
            if (!replace()) return;
        }
        if (writer != null) return;
        try {
            if (failedAt != 0) database.reopen();
            HistoryWriter opened = new HistoryWriter(database.connection(), keys);
            if (!areKeysRestored) opened.restoreKeys();
            areKeysRestored = true;
            if (failedRows != null && opened.transaction() >= failedTransaction) keys.removeWritten();
            else restoreFailed();
            failedRows = null;
            failedMarks = List.of();
            writer = opened;
            readSince();
        } catch (SQLException | HistoryException e) {
            fail(e);
        }
    }

    private void write(PendingRows.Batch rows) {
        if (rows.isEmpty() && pendingMarks.isEmpty() && pending.newestSecond() == Integer.MIN_VALUE) return;
        List<Mark> writtenMarks = List.copyOf(pendingMarks);
        // Removed first, so that data added later is neither written twice nor lost if this fails.
        pending.remove(rows);
        pendingMarks.clear();
        try {
            writer.write(rows, writtenMarks, pending.oldestSecond(), pending.newestSecond());
            pending.resetOldestSecond();
            problem = null;
            failedAt = 0;
            if (since == null) readSince();
        } catch (SQLException e) {
            keepFailed(rows, writtenMarks);
            fail(e);
        } catch (RuntimeException | Error e) {
            keepFailed(rows, writtenMarks);
            throw e;
        }
    }

    private void writeProfiles() {
        try {
            for (HistoryProfile profile : profiles.take(pending.newestSecond())) writer.write(profile);
        } catch (SQLException e) {
            fail(e);
        }
    }

    private void keepFailed(PendingRows.Batch rows, List<Mark> unwrittenMarks) {
        failedRows = rows;
        failedMarks = unwrittenMarks;
        failedTransaction = writer.transaction();
    }

    private void maintain() {
        if (writer == null) return;
        try {
            if (maintenance.run(writer)) readSince();
        } catch (SQLException e) {
            fail(e);
        }
    }

    private void readSince() throws SQLException {
        since = writer.since();
    }

    private void closeWriter() {
        try {
            writer.close();
        } catch (SQLException e) {
            problem = Failures.describe(e);
        }
        writer = null;
    }

    private void fail(Exception e) {
        problem = Failures.describe(e);
        failedAt = System.nanoTime();
        if (writer != null) writer.abandon();
        writer = null;
        if (Failures.isDamage(e) && Failures.isDamageOfContent(e)) isDamaged = true;
    }

    /** Replaces the damaged file with an empty one. */
    private boolean replace() {
        try {
            database.replace();
            keys.forgetWritten();
            restoreFailed();
            return true;
        } catch (SQLException | HistoryException e) {
            isDamaged = true;
            fail(e);
            return false;
        }
    }

    /** Puts the rows and marks of a transaction that was not written back into the pending ones. */
    private void restoreFailed() {
        if (failedRows == null) return;
        pending.addBack(failedRows);
        pendingMarks.addAll(0, failedMarks);
        failedRows = null;
        failedMarks = List.of();
    }

    @Override
    public void close() {
        synchronized (monitor) {
            isClosing = true;
            monitor.notifyAll();
        }
        boolean isInterrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) Thread.currentThread().interrupt();
    }
}
