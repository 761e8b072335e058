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

    private final List<Runnable> tasks = new ArrayList<>();
    private final List<Check> checks = new ArrayList<>();
    /** Null while there is nothing to do. */
    private Thread thread;

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
        thread = new Thread(null, this, "taskclock-watchdog", 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        thread.start();
    }

    @Override
    public void run() {
        try {
            for (Runnable task = next(); task != null; task = next()) task.run();
        } catch (InterruptedException e) {
            return; // by the program, which may interrupt any thread: what is installed stays so
        } finally {
            synchronized (this) {
                if (thread == Thread.currentThread()) thread = null; // the next task starts another one
            }
        }
    }

    /** Waits for the next thing to do. Null if there will be none, and the thread is to end. */
    private synchronized Runnable next() throws InterruptedException {
        long end = System.nanoTime() + PERIOD_MILLIS * 1_000_000;
        for (long left = PERIOD_MILLIS; left > 0; left = (end - System.nanoTime()) / 1_000_000) {
            if (!tasks.isEmpty()) return tasks.remove(0);
            if (checks.isEmpty()) {
                thread = null;
                return null;
            }
            wait(left);
        }
        return this::runChecks;
    }

    private void runChecks() {
        List<Check> all;
        synchronized (this) {
            all = List.copyOf(checks);
        }
        for (Check check : all) {
            if (check.look()) continue;
            synchronized (this) {
                checks.remove(check);
            }
        }
    }
}
