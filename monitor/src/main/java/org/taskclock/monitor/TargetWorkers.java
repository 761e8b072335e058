// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs operations that a process can block indefinitely, such as opening one of its files, on daemon threads. The caller waits until a deadline, counted from the start. A thread that is still blocked then is abandoned: until it returns, no other operation is tried for that process.
 */
final class TargetWorkers {
    static final long TIMEOUT_MILLIS = 2_000;

    /** The maximum number of blocked threads for all processes together. */
    private static final int MAX_BLOCKED = 64;

    private static final long STACK_BYTES = 256 << 10;

    private record Blocked(long pid, CompletableFuture<?> result) {}

    private static final Set<Blocked> BLOCKED = ConcurrentHashMap.newKeySet();

    private static final Executor THREADS =
            new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                Thread thread = new Thread(null, task, "taskclock-files", STACK_BYTES);
                thread.setDaemon(true);
                return thread;
            });

    private TargetWorkers() {}

    /** Runs a task and returns its result. Throws if it takes too long. */
    static <T> T call(long pid, Callable<T> task) throws IOException {
        return call(pid, TIMEOUT_MILLIS, task);
    }

    static <T> T call(long pid, long timeoutMillis, Callable<T> task) throws IOException {
        CompletableFuture<T> result = start(pid, task);
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return result.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    isInterrupted = true; // the wait is short
                }
            }
        } catch (TimeoutException e) {
            BLOCKED.add(new Blocked(pid, result));
            throw new IOException("its files did not answer within " + timeoutMillis + " ms", e);
        } catch (ExecutionException e) {
            throw thrown(e.getCause());
        } finally {
            if (isInterrupted) Thread.currentThread().interrupt();
        }
    }

    private static IOException thrown(Throwable cause) {
        if (cause instanceof Error error) throw error;
        if (cause instanceof RuntimeException exception) throw exception;
        return cause instanceof IOException exception ? exception : new IOException(cause);
    }

    private static <T> CompletableFuture<T> start(long pid, Callable<T> task) throws IOException {
        if (isBlocked(pid) || BLOCKED.size() >= MAX_BLOCKED)
            throw new IOException("its files did not answer an earlier request");
        CompletableFuture<T> result = new CompletableFuture<>();
        THREADS.execute(() -> {
            try {
                result.complete(task.call());
            } catch (Throwable e) { // is passed to the caller
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    /** Returns whether an earlier request to a process is still blocked. */
    static boolean isBlocked(long pid) {
        BLOCKED.removeIf(blocked -> blocked.result.isDone());
        for (Blocked blocked : BLOCKED) if (blocked.pid == pid) return true;
        return false;
    }
}
