// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.concurrent.locks.LockSupport;

/** A short thread that does what takes too long for a reading: it decides the rung, and has the binding upgraded. */
final class Startup extends Thread {
    /** A program that ends sooner than this has no use for a faster binding, and others have enough to do at the start. */
    private static final long PATIENCE_NANOS = 200_000_000L;

    private static final long LONGEST_WAIT_MILLIS = 10_000;

    private final boolean isDeciding;
    private final Object decision = new Object();
    private boolean isDecided;
    private volatile boolean isAwaited;

    Startup(boolean isDeciding) {
        super(null, null, "taskclock-startup", 0, false);
        this.isDeciding = isDeciding;
        setDaemon(true);
        setContextClassLoader(null);
    }

    boolean isDeciding() {
        return isDeciding;
    }

    @Override
    public void run() {
        try {
            if (isDeciding) Rungs.decide();
            announceDecision();
            CheckpointListener.register();
            if (!Native.canUpgrade() || Library.isPartOfAgent()) return;
            long end = System.nanoTime() + PATIENCE_NANOS;
            for (long left = PATIENCE_NANOS; left > 0 && !isAwaited; left = end - System.nanoTime()) {
                LockSupport.parkNanos(this, left);
            }
            Native.upgrade();
        } catch (Throwable e) {
            // What is in use stays so: a system call, by JNI. The program has nothing to do with it.
        } finally {
            announceDecision();
        }
    }

    private void announceDecision() {
        synchronized (decision) {
            isDecided = true;
            decision.notifyAll();
        }
    }

    /** Waits until the rung is decided. */
    void awaitDecision() {
        if (Thread.currentThread() == this) return;
        boolean interrupted = false;
        long end = System.nanoTime() + LONGEST_WAIT_MILLIS * 1_000_000;
        synchronized (decision) {
            for (long left = LONGEST_WAIT_MILLIS;
                    !isDecided && left > 0;
                    left = (end - System.nanoTime()) / 1_000_000) {
                try {
                    decision.wait(left);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) Thread.currentThread().interrupt();
    }

    /** Waits until it is done. */
    void await() {
        isAwaited = true;
        LockSupport.unpark(this);
        boolean interrupted = false;
        long end = System.nanoTime() + LONGEST_WAIT_MILLIS * 1_000_000;
        while (isAlive() && System.nanoTime() < end && Thread.currentThread() != this) {
            try {
                join(LONGEST_WAIT_MILLIS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) Thread.currentThread().interrupt();
    }
}
