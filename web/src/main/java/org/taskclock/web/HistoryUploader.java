// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.function.Consumer;
import org.taskclock.history.HistoryException;
import org.taskclock.history.HistoryUpload;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.web.http.InternalErrors;
import org.taskclock.web.http.WebException;

/** Uploads the history of each day soon after its end, and tries again if that fails. */
final class HistoryUploader implements AutoCloseable {
    private static final Duration PAUSE = Duration.ofMinutes(10);

    /** Until then, the history is open. */
    private static final Duration FIRST = Duration.ofMinutes(1);

    /** After this time, all rows of a day have been written. */
    private static final Duration SETTLING = Duration.ofMinutes(5);

    private final HistoryUpload upload;
    private final Clock clock;
    private final Consumer<String> log;
    private final DaemonThread thread = new DaemonThread(this::run, "taskclock-upload");

    /** Why the last attempt failed; null if it did not. */
    private volatile String problem;

    HistoryUploader(ServerOptions options, Consumer<String> log) throws WebException {
        try {
            upload = new HistoryUpload(options.data(), options.historyUpload());
        } catch (HistoryException e) {
            throw new WebException("--history-upload " + e.getMessage());
        }
        clock = options.clock();
        this.log = log;
    }

    void start() {
        thread.start();
    }

    /** Returns why the history is not uploaded; null if it is. */
    String problem() {
        return problem;
    }

    private void run() {
        try {
            Thread.sleep(FIRST.toMillis());
            while (true) {
                attempt();
                Thread.sleep(PAUSE.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void attempt() {
        try {
            int days = upload.run(LocalDate.ofInstant(clock.instant().minus(SETTLING), ZoneOffset.UTC));
            if (days > 0) log.accept("history: " + days + (days == 1 ? " day" : " days") + " uploaded");
            problem = null;
        } catch (IOException | RuntimeException | Error e) {
            String reason = "history: not uploaded: "
                    + (e instanceof IOException ? e.getMessage() : InternalErrors.describe(e));
            if (!reason.equals(problem)) log.accept(reason);
            problem = reason;
        }
    }

    @Override
    public void close() {
        thread.end(1_000);
    }
}
