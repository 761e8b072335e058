// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.concurrent.locks.LockSupport;

/** A short-lived thread for work too slow for a reading: it selects the backend and then upgrades the binding. */
final class StartupThread extends Thread {
    /**
     * A program that ends sooner gains nothing from a faster binding, and a longer-running one is busy while it starts.
     */
    private static final long UPGRADE_DELAY_NANOS = 200_000_000L;

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
            if (selectsBackend) Backends.selectBest();
            announceSelection();
            CheckpointListener.register();
            if (!Native.canUpgrade() || Library.isPartOfAgent()) return;
            long end = System.nanoTime() + UPGRADE_DELAY_NANOS;
            for (long left = UPGRADE_DELAY_NANOS; left > 0 && !isAwaited; left = end - System.nanoTime()) {
                LockSupport.parkNanos(this, left);
            }
            Native.upgrade();
        } catch (Throwable e) {
            // The clock keeps the backend and binding that it already uses. The host program is not affected.
        } finally {
            announceSelection();
        }
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

    /** Starts the upgrade at once and waits until this thread has ended. */
    void awaitCompletion() {
        isAwaited = true;
        LockSupport.unpark(this);
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
