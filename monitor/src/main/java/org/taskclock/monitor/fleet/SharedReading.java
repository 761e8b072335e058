// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.taskclock.monitor.usage.DaemonThread;

/**
 * Reads on a thread of its own, so that nobody waits longer than a scrape may take, however many JVMs are slow or hang.
 * Callers at the same time share a reading. Thread-safe.
 */
final class SharedReading implements AutoCloseable {
    /** The reading of a JVM takes milliseconds. A scrape must be answered within a second. */
    private static final long MAX_MILLIS = 700;

    private final Supplier<List<JvmSnapshot>> reader;
    private final ExecutorService thread =
            Executors.newSingleThreadExecutor(task -> new DaemonThread(task, "taskclock-reader"));

    private Future<?> current;
    private volatile List<JvmSnapshot> last = List.of();

    SharedReading(Supplier<List<JvmSnapshot>> reader) {
        this.reader = reader;
    }

    private synchronized Future<?> start() {
        if (current == null || current.isDone()) {
            current = thread.submit(() -> last = reader.get());
        }
        return current;
    }

    /** Returns a new reading, or the last one if the new one takes too long. */
    List<JvmSnapshot> get() {
        try {
            start().get(MAX_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            return last; // the reading goes on
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Error error) throw error;
            throw new IllegalStateException(e.getCause());
        }
        return last;
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
