// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A short thread that does what takes too long for a reading: it decides the rung, and has the binding upgraded. */
final class Startup extends Thread {
    /** A program that ends sooner than this has no use for a faster binding, and others have enough to do at the start. */
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final long LONGEST_WAIT_MILLIS = 10_000;

    private final boolean isDeciding;
    private final CountDownLatch decided = new CountDownLatch(1);
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
            decided.countDown();
            CheckpointListener.register();
            if (!Native.canUpgrade()) return;
            long end = System.nanoTime() + PATIENCE_NANOS;
            for (long left = PATIENCE_NANOS; left > 0 && !isAwaited; left = end - System.nanoTime()) {
                LockSupport.parkNanos(this, left);
            }
            Native.upgrade();
        } catch (Throwable e) {
            // What is in use stays so: a system call, by JNI. The program has nothing to do with it.
        } finally {
            decided.countDown();
        }
    }

    /** Waits until the rung is decided. */
    void awaitDecision() {
        boolean interrupted = false;
        boolean isOver = Thread.currentThread() == this;
        while (!isOver) {
            try {
                isOver = true;
                if (!decided.await(LONGEST_WAIT_MILLIS, TimeUnit.MILLISECONDS)) return;
            } catch (InterruptedException e) {
                interrupted = true;
                isOver = false;
            }
        }
        if (interrupted) Thread.currentThread().interrupt();
    }

    /** Waits until it is done. */
    void await() {
        isAwaited = true;
        LockSupport.unpark(this);
        boolean interrupted = false;
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LONGEST_WAIT_MILLIS);
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
