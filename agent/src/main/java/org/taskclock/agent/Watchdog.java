// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.ArrayList;
import java.util.List;

/**
 * Does what can wait: once, what would otherwise delay the start of the program, and each second, what has to be looked at
 * again. Its thread ends when there is nothing left to look at.
 */
final class Watchdog implements Runnable {
    /** Something to look at each second. */
    interface Check {
        /** Returns whether it has to be looked at again. */
        boolean look();
    }

    private static final long PERIOD_MILLIS = 1_000;

    /** A task that fails this often is given up. */
    private static final int ATTEMPTS = 3;

    /** Made early, because the heap may be full later. */
    private final Runnable checking = this::runChecks;

    private final List<Runnable> tasks = new ArrayList<>();
    private final List<Check> checks = new ArrayList<>();
    /** Null while there is nothing to do. */
    private Thread thread;

    /** Tasks that failed and are tried again after the next checks. */
    private final List<Runnable> again = new ArrayList<>(ATTEMPTS);

    private int failures;
    private Class<? extends Throwable> lastFailure;
    private int attempts;

    /** Runs the task soon, on the watchdog's thread. */
    synchronized void submit(Runnable task) {
        tasks.add(task);
        wake();
    }

    /** Runs the check soon, and each second for as long as it returns true. */
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
            Thread started = new Thread(null, this, "taskclock-watchdog", 0, false);
            started.setDaemon(true);
            started.setContextClassLoader(null);
            started.start();
            thread = started;
        } catch (OutOfMemoryError e) {
            // No memory, or too many threads. The next task tries again.
            note(e);
        }
    }

    @Override
    public void run() {
        try {
            while (runNext()) {}
        } finally {
            synchronized (this) {
                if (thread == Thread.currentThread()) thread = null; // the next task starts another one
            }
        }
    }

    /** Returns false when there is nothing left to do. */
    private boolean runNext() {
        Runnable task = null;
        try {
            task = next();
            if (task == null) return false;
            task.run();
            if (task != checking) attempts = 0;
        } catch (InterruptedException e) {
            // The program may interrupt any thread. There is still something to look at.
        } catch (RuntimeException | Error e) {
            // The heap may be full, for example. The program has nothing to do with it, and the next look may succeed.
            failed(task, e);
        }
        return true;
    }

    private synchronized void failed(Runnable task, Throwable e) {
        note(e);
        if (task == null || task == checking) return;
        if (++attempts < ATTEMPTS) again.add(task);
        else attempts = 0;
    }

    private synchronized void note(Throwable e) {
        failures++;
        lastFailure = e.getClass();
    }

    /** How often something failed. */
    synchronized int failures() {
        return failures;
    }

    /** Null if nothing failed. */
    synchronized Class<? extends Throwable> lastFailure() {
        return lastFailure;
    }

    /** Waits for the next thing to do. Null if there will be none, and the thread is to end. */
    private synchronized Runnable next() throws InterruptedException {
        long end = System.nanoTime() + PERIOD_MILLIS * 1_000_000;
        for (long left = PERIOD_MILLIS; left > 0; left = (end - System.nanoTime()) / 1_000_000) {
            if (!tasks.isEmpty()) return tasks.remove(0);
            if (checks.isEmpty() && again.isEmpty()) {
                thread = null;
                return null;
            }
            wait(left);
        }
        return checking;
    }

    private void runChecks() {
        List<Check> all;
        synchronized (this) {
            all = List.copyOf(checks);
        }
        for (Check check : all) {
            try {
                if (check.look()) continue;
            } catch (RuntimeException | Error e) {
                note(e); // the other checks are looked at all the same
                continue;
            }
            synchronized (this) {
                checks.remove(check);
            }
        }
        synchronized (this) {
            tasks.addAll(again);
            again.clear();
        }
    }
}
