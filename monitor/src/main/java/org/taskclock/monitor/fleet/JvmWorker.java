// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Sends the requests to one JVM, one after the other. A JVM that does not answer therefore keeps one thread, and delays
 * only its own requests. Thread-safe.
 */
final class JvmWorker implements Executor {
    private final Executor threads;
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private boolean isRunning;

    /**
     * Creates a worker without a thread.
     *
     * @param threads has a thread for each task
     */
    JvmWorker(Executor threads) {
        this.threads = threads;
    }

    /** Throws {@link RejectedExecutionException} after the threads were shut down. */
    @Override
    public synchronized void execute(Runnable task) {
        if (isRunning) {
            waiting.add(task);
        } else {
            threads.execute(() -> run(task));
            isRunning = true;
        }
    }

    private void run(Runnable task) {
        try {
            task.run();
        } finally {
            runNext();
        }
    }

    private synchronized void runNext() {
        isRunning = false;
        try {
            if (!waiting.isEmpty()) execute(waiting.remove());
        } catch (RejectedExecutionException e) {
            waiting.clear(); // closing
        }
    }
}
