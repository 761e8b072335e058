// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.ArrayList;
import java.util.List;

/**
 * A background thread for work that can wait: tasks that would delay the start of the program, and checks once a
 * second. The thread ends when there is nothing left to do.
 */
final class Watchdog implements Runnable {
    /** A check that runs once a second. */
    interface Check {
        /** Returns whether the check must run again. */
        boolean check();
    }

    private static final long PERIOD_MILLIS = 1_000;

    /** How long the program may start before a deferred task runs. */
    private static final long START_MILLIS = 200;

    private static final int MAX_ATTEMPTS = 3;

    private final List<Runnable> tasks = new ArrayList<>();
    private final List<Check> checks = new ArrayList<>();
    /** Null if there is none. */
    private Runnable deferredTask;

    private long deferredUntilNanos;
    /** Null while there is nothing to do. */
    private Thread thread;

    /** Failed tasks, which run again after the next checks. */
    private final List<Runnable> retries = new ArrayList<>(MAX_ATTEMPTS);

    private int failures;
    private Class<? extends Throwable> lastFailure;
    private long failedAt;
    private int attempts;

    /** Runs a task soon, on the watchdog's thread. */
    synchronized void submit(Runnable task) {
        tasks.add(task);
        wake();
    }

    /** Runs a task when the program has had time to start. */
    synchronized void defer(Runnable task) {
        deferredTask = task;
        deferredUntilNanos = System.nanoTime() + START_MILLIS * 1_000_000;
        wake();
    }

    /** Runs a check within about a second, and then once a second as long as it returns true. */
    synchronized void watch(Check check) {
        checks.add(check);
        wake();
    }

    private void wake() {
        if (thread != null) {
            notifyAll();
            return;
        }
        try {
            Thread newThread = new Thread(null, this, "taskclock-watchdog", 0, false);
            newThread.setDaemon(true);
            newThread.setContextClassLoader(null);
            newThread.start();
            thread = newThread;
        } catch (OutOfMemoryError e) {
            // No memory, or too many threads. The next task tries again.
            recordFailure(e);
        }
    }

    @Override
    public void run() {
        try {
            while (runNext()) {}
        } finally {
            synchronized (this) {
                if (thread == Thread.currentThread()) thread = null; // the next task starts a new thread
            }
        }
    }

    /** Returns false when there is nothing left to do. */
    private boolean runNext() {
        Runnable task = null;
        try {
            task = next();
            if (task != null) {
                task.run();
                attempts = 0;
            } else if (endIfIdle()) {
                return false;
            } else {
                runChecks();
            }
        } catch (InterruptedException e) {
            // The program may interrupt any thread. There is still work to do.
        } catch (RuntimeException | Error e) {
            // For example, the heap may be full. The program must not notice, and the next attempt may succeed.
            failed(task, e);
        }
        return true;
    }

    private synchronized void failed(Runnable task, Throwable e) {
        recordFailure(e);
        if (task == null) return;
        if (++attempts < MAX_ATTEMPTS) retries.add(task);
        else attempts = 0;
    }

    private synchronized void recordFailure(Throwable e) {
        failures++;
        lastFailure = e.getClass();
        failedAt = System.nanoTime();
    }

    /** Returns the number of failures of tasks and checks. */
    synchronized int failures() {
        return failures;
    }

    /** Returns the type of the last failure, or null if there was none. */
    synchronized Class<? extends Throwable> lastFailure() {
        return lastFailure;
    }

    /** Returns the System.nanoTime of the last failure. */
    synchronized long failedAt() {
        return failedAt;
    }

    /** Waits for the next task. Returns null if it is time for the checks, or if there is nothing left to do. */
    private synchronized Runnable next() throws InterruptedException {
        long end = System.nanoTime() + PERIOD_MILLIS * 1_000_000;
        for (long left = PERIOD_MILLIS; left > 0 && !isIdle(); left = millisUntil(end)) {
            if (!tasks.isEmpty()) return tasks.remove(0);
            if (deferredTask == null) {
                wait(left);
                continue;
            }
            long untilDeferred = millisUntil(deferredUntilNanos);
            if (untilDeferred <= 0) {
                Runnable task = deferredTask;
                deferredTask = null;
                return task;
            }
            wait(Math.min(left, untilDeferred));
        }
        return null;
    }

    private static long millisUntil(long nanoTime) {
        return (nanoTime - System.nanoTime()) / 1_000_000;
    }

    private boolean isIdle() {
        return tasks.isEmpty() && checks.isEmpty() && retries.isEmpty() && deferredTask == null;
    }

    private synchronized boolean endIfIdle() {
        if (!isIdle()) return false;
        thread = null;
        return true;
    }

    private void runChecks() {
        List<Check> all;
        synchronized (this) {
            all = List.copyOf(checks);
        }
        for (Check check : all) {
            try {
                if (check.check()) continue;
            } catch (RuntimeException | Error e) {
                recordFailure(e); // the other checks still run
                continue;
            }
            synchronized (this) {
                checks.remove(check);
            }
        }
        synchronized (this) {
            tasks.addAll(retries);
            retries.clear();
        }
    }
}
