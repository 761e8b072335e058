// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.exporter;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Takes readings on a separate thread, so that callers do not wait for one that makes no progress. Concurrent callers share a reading. Thread-safe.
 */
final class SharedReading implements AutoCloseable {
    /** The reading of one JVM takes milliseconds. A scrape must be answered within a second. */
    private static final long STALLED_NANOS = 700_000_000;

    private static final long CHECK_MILLIS = 50;

    private final Supplier<List<JvmSnapshot>> reader;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(task -> {
        Thread created = new Thread(task, "taskclock-reader");
        created.setDaemon(true);
        return created;
    });

    private Future<?> current;
    private volatile List<JvmSnapshot> last = List.of();
    private volatile long progressAt;

    SharedReading(Supplier<List<JvmSnapshot>> reader) {
        this.reader = reader;
    }

    /** Called by the reader when it proceeds to the next JVM. */
    void progress() {
        progressAt = System.nanoTime();
    }

    private synchronized Future<?> start() {
        if (current == null || current.isDone()) {
            progress();
            current = thread.submit(() -> last = reader.get());
        }
        return current;
    }

    /** Returns a new reading, or the last one if the new one makes no progress. */
    List<JvmSnapshot> get() {
        Future<?> reading = start();
        while (true) {
            try {
                reading.get(CHECK_MILLIS, TimeUnit.MILLISECONDS);
                return last;
            } catch (TimeoutException e) {
                if (System.nanoTime() - progressAt > STALLED_NANOS) return last;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return last;
            } catch (ExecutionException e) {
                if (e.getCause() instanceof Error error) throw error;
                throw new IllegalStateException(e.getCause());
            }
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
