// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.taskclock.history.History;
import org.taskclock.history.HistoryOptions;
import org.taskclock.history.HistoryProfile;
import org.taskclock.history.HistorySample;
import org.taskclock.history.HistoryStatus;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.InternalErrors;

/** Access to the history while it is being opened and afterward, even if it cannot be used. Thread-safe. */
final class HistoryStore implements AutoCloseable {
    /** The number of samples to keep until the history is open: one minute of 50 JVMs. */
    private static final int MAX_WAITING = 3_000;

    private static final long CLOSE_SECONDS = 20;

    /** Opens a history. */
    interface Opener {
        History open(Path directory, HistoryOptions options) throws IOException;
    }

    private final DaemonThread thread;
    private final CountDownLatch isOpened = new CountDownLatch(1);
    private final List<HistorySample> waitingSamples = new ArrayList<>();
    private final List<Mark> waitingMarks = new ArrayList<>();

    // Guarded by this.
    private History history;
    private String failure;
    private boolean isClosed;

    HistoryStore(Opener opener, Path directory, HistoryOptions options, Consumer<String> log) {
        thread = new DaemonThread(() -> open(opener, directory, options, log), "taskclock-history-open");
    }

    /** Starts opening the history. */
    void start() {
        thread.start();
    }

    private void open(Opener opener, Path directory, HistoryOptions options, Consumer<String> log) {
        try {
            accept(opener.open(directory, options));
        } catch (IOException | RuntimeException | Error e) {
            String reason = e instanceof IOException ? e.getMessage() : InternalErrors.describe(e);
            log.accept("history: " + reason);
            synchronized (this) {
                failure = String.valueOf(reason);
                waitingSamples.clear();
                waitingMarks.clear();
            }
        } finally {
            isOpened.countDown();
        }
    }

    private synchronized void accept(History opened) {
        if (isClosed) {
            opened.close();
            return;
        }
        history = opened;
        waitingSamples.forEach(opened::add);
        waitingMarks.forEach(opened::add);
        waitingSamples.clear();
        waitingMarks.clear();
    }

    synchronized void add(HistorySample sample) {
        if (history != null) history.add(sample);
        else if (failure == null && waitingSamples.size() < MAX_WAITING) waitingSamples.add(sample);
    }

    synchronized void add(Mark mark) {
        if (history != null) history.add(mark);
        else if (failure == null && waitingMarks.size() < MAX_WAITING) waitingMarks.add(mark);
    }

    synchronized void add(HistoryProfile profile) {
        if (history != null) history.add(profile);
    }

    /** Returns the state of the history. Its problem is set while it is being opened, and if it cannot be opened. */
    HistoryStatus status() {
        History opened;
        synchronized (this) {
            opened = history;
            if (opened == null)
                return new HistoryStatus(failure == null ? "the history is being opened" : failure, 0, null, null, 0);
        }
        return opened.status();
    }

    /** Returns the history. */
    synchronized History get() throws ApiException {
        if (history != null) return history;
        throw new ApiException(
                503,
                failure == null ? "the history is being opened: try again in a few seconds" : "no history: " + failure);
    }

    /** Waits until the history is open, or opening it has failed. */
    void awaitOpened(long millis) throws InterruptedException {
        if (!isOpened.await(millis, TimeUnit.MILLISECONDS)) throw new IllegalStateException("not opened in time");
    }

    @Override
    public void close() {
        History opened;
        synchronized (this) {
            isClosed = true;
            opened = history;
        }
        if (opened != null) {
            opened.close();
            return;
        }
        thread.await(TimeUnit.SECONDS.toMillis(CLOSE_SECONDS));
    }
}
