// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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
 * Runs what a process can block for as long as it likes, such as opening one of its files, on daemon threads. The
 * caller waits until a deadline, which is counted from the start. A thread that is still blocked then is left alone:
 * until it returns, nothing else is tried for that process, and once a user has blocked several, for none of that user.
 */
final class TargetWorkers {
    static final long TIMEOUT_MILLIS = 2_000;

    /** For the processes of a user, so that no user makes the files of others unreadable. */
    private static final int MAX_BLOCKED_BY_OWNER = 8;

    /** For all processes together, so that threads do not run out. */
    private static final int MAX_BLOCKED = 256;

    private static final long STACK_BYTES = 256 << 10;

    private record Blocked(long pid, String owner, CompletableFuture<?> result) {}

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
        // Now, because the process may have ended when the time is up.
        String owner = owner(pid);
        CompletableFuture<T> result = start(pid, owner, task);
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
            BLOCKED.add(new Blocked(pid, owner, result));
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

    private static <T> CompletableFuture<T> start(long pid, String owner, Callable<T> task) throws IOException {
        if (isBlocked(pid)) throw new IOException("its files did not answer an earlier request");
        if (BLOCKED.size() >= MAX_BLOCKED || blockedBy(owner) >= MAX_BLOCKED_BY_OWNER)
            throw new IOException("files of other processes did not answer");
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

    private static long blockedBy(String owner) {
        return BLOCKED.stream().filter(blocked -> blocked.owner.equals(owner)).count();
    }

    /**
     * Returns whom a process belongs to: the real user, which nobody else can become; of root, who is a different one
     * in each container, also the namespace of process ids, which only privileged containers can change.
     */
    private static String owner(long pid) {
        try {
            Path process = Path.of("/proc/" + pid);
            // Not the owner of the directory, which is root if the process has made itself undumpable.
            String status = Files.readString(process.resolve("status"), StandardCharsets.ISO_8859_1);
            int at = status.indexOf("\nUid:\t") + "\nUid:\t".length();
            String user = status.substring(at, status.indexOf('\t', at));
            return user.equals("0") ? user + " " + Files.readSymbolicLink(process.resolve("ns/pid")) : user;
        } catch (IOException | RuntimeException e) {
            return ""; // it has ended, or belongs to another user
        }
    }

    /** Returns how many threads are blocked. */
    static int blocked() {
        BLOCKED.removeIf(blocked -> blocked.result.isDone());
        return BLOCKED.size();
    }

    /** Returns whether an earlier request to a process is still blocked. */
    static boolean isBlocked(long pid) {
        BLOCKED.removeIf(blocked -> blocked.result.isDone());
        for (Blocked blocked : BLOCKED) if (blocked.pid == pid) return true;
        return false;
    }
}
