// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.taskclock.monitor.usage.DaemonThread;

/** Runs queries to a JVM one after another on a separate thread, because the JVM may hang. */
final class QueryExecutor {
    /** A query, whose result is handled on the main thread. */
    interface Query {
        TerminalUi.Event run() throws IOException;
    }

    private final Queue<TerminalUi.Event> events;
    private final ExecutorService executor =
            Executors.newSingleThreadExecutor(task -> new DaemonThread(task, "taskclock-watch"));

    QueryExecutor(Queue<TerminalUi.Event> events) {
        this.events = events;
    }

    /**
     * Submits a query.
     *
     * @param onError receives the message of a failure, on the main thread
     */
    void submit(Query query, Consumer<String> onError) {
        executor.execute(() -> {
            TerminalUi.Event result;
            try {
                result = query.run();
            } catch (IOException | RuntimeException e) {
                String message = e instanceof IOException && e.getMessage() != null ? e.getMessage() : e.toString();
                result = () -> onError.accept(message);
            }
            events.add(result);
        });
    }

    /** Discards all pending queries. */
    void shutdown() {
        executor.shutdownNow();
    }
}
