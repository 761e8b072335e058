// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.concurrent.locks.LockSupport;

/** A short-lived thread for work that would slow down a reading: it selects the backend, then upgrades the binding. */
final class StartupThread extends Thread {
    /**
     * Selecting a backend takes up to 20 ms of CPU time. A program that ends sooner gains nothing from it, and a
     * longer-running one is busy while it starts.
     */
    private static final long DELAY_NANOS = 200_000_000L;

    private static final long MAX_WAIT_MILLIS = 10_000;

    // If a backend cannot be tested, or the state cannot be shared with other copies, for lack of a process, of memory,
    // or of a file, the thread tries again: after 1 s, 4 s, 16 s, and so on, for six minutes in all.
    private static final long FIRST_PAUSE_MILLIS = 1_000;
    private static final long MAX_PAUSE_MILLIS = 256_000;

    private final boolean selectsBackend;
    private final Object selectionLock = new Object();
    private boolean isSelected;
    private boolean isCompleted;
    private volatile boolean isAwaited;

    StartupThread(boolean selectsBackend) {
        super(null, null, "taskclock-startup", 0, false);
        this.selectsBackend = selectsBackend;
        setDaemon(true);
        setContextClassLoader(null);
    }

    boolean selectsBackend() {
        return selectsBackend;
    }

    @Override
    public void run() {
        awaitDelay();
        if (selectsBackend) select();
        announceSelection();
        try {
            CheckpointListener.register();
            if (Native.canUpgrade() && !Library.isPartOfAgent()) Native.upgrade();
        } catch (Throwable e) {
            // The clock keeps the binding that it already uses. The host program is not affected.
        }
        announceCompletion();
        improve();
    }

    private static void select() {
        try {
            Backends.select();
        } catch (Throwable e) {
            // The clock keeps the backend that it already uses.
        }
    }

    private static void improve() {
        try {
            for (long pause = FIRST_PAUSE_MILLIS; pause <= MAX_PAUSE_MILLIS && Backends.mayImprove(); pause *= 4) {
                Thread.sleep(pause);
                Backends.improve();
            }
        } catch (Throwable e) {
            // The status tries again.
        }
    }

    private void awaitDelay() {
        long end = System.nanoTime() + DELAY_NANOS;
        for (long left = DELAY_NANOS; left > 0 && !isAwaited; left = end - System.nanoTime()) {
            LockSupport.parkNanos(this, left);
        }
    }

    private void endDelay() {
        isAwaited = true;
        LockSupport.unpark(this);
    }

    private void announceSelection() {
        synchronized (selectionLock) {
            isSelected = true;
            selectionLock.notifyAll();
        }
    }

    private void announceCompletion() {
        synchronized (selectionLock) {
            isCompleted = true;
            selectionLock.notifyAll();
        }
    }

    /** Waits until the backend is selected. */
    void awaitSelection() {
        await(false);
    }

    /** Waits until the backend is selected and the binding is upgraded. */
    void awaitCompletion() {
        await(true);
    }

    private void await(boolean completion) {
        if (Thread.currentThread() == this) return;
        endDelay();
        boolean interrupted = false;
        long end = System.nanoTime() + MAX_WAIT_MILLIS * 1_000_000;
        synchronized (selectionLock) {
            for (long left = MAX_WAIT_MILLIS;
                    left > 0 && isAlive() && !(completion ? isCompleted : isSelected);
                    left = (end - System.nanoTime()) / 1_000_000) {
                try {
                    selectionLock.wait(left);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) Thread.currentThread().interrupt();
    }
}
