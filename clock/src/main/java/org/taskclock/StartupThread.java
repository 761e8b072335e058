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

    private final boolean selectsBackend;
    private final Object selectionLock = new Object();
    private boolean isSelected;
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
        try {
            awaitDelay();
            if (selectsBackend) Backends.selectBest();
            announceSelection();
            CheckpointListener.register();
            if (Native.canUpgrade() && !Library.isPartOfAgent()) Native.upgrade();
        } catch (Throwable e) {
            // The clock keeps the backend and binding that it already uses. The host program is not affected.
        } finally {
            announceSelection();
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

    /** Waits until the backend is selected. */
    void awaitSelection() {
        if (Thread.currentThread() == this) return;
        endDelay();
        boolean interrupted = false;
        long end = System.nanoTime() + MAX_WAIT_MILLIS * 1_000_000;
        synchronized (selectionLock) {
            for (long left = MAX_WAIT_MILLIS; !isSelected && left > 0; left = (end - System.nanoTime()) / 1_000_000) {
                try {
                    selectionLock.wait(left);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) Thread.currentThread().interrupt();
    }

    /** Waits until this thread has ended. */
    void awaitCompletion() {
        endDelay();
        boolean interrupted = false;
        long end = System.nanoTime() + MAX_WAIT_MILLIS * 1_000_000;
        while (isAlive() && System.nanoTime() < end && Thread.currentThread() != this) {
            try {
                join(MAX_WAIT_MILLIS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) Thread.currentThread().interrupt();
    }
}
