// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.taskclock.TaskClock;

/** A thread that uses CPU time when told to. */
final class Load implements AutoCloseable {
    static final long MILLIS = 1_000_000;

    final Thread thread;
    private final Semaphore requests = new Semaphore(0);
    private final Semaphore replies = new Semaphore(0);
    private final Runnable work;
    private volatile boolean isEnding;

    /** Starts a thread that does the work each time {@link #run()} is called. */
    Load(String name, Runnable work) {
        this.work = work;
        CountDownLatch running = new CountDownLatch(1);
        thread = new Thread(
                () -> {
                    running.countDown();
                    serve();
                },
                name);
        thread.setDaemon(true);
        thread.start();
        try {
            running.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void serve() {
        while (true) {
            requests.acquireUninterruptibly();
            if (isEnding) return;
            work.run();
            replies.release();
        }
    }

    /** Does the work once, on the thread. */
    void run() {
        requests.release();
        replies.acquireUninterruptibly();
    }

    /** Ends the thread. */
    @Override
    public void close() {
        isEnding = true;
        requests.release();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Uses CPU time in user mode on the calling platform thread. */
    static void burn(long millis) {
        long end = TaskClock.cpuNanos() + millis * MILLIS;
        while (TaskClock.cpuNanos() < end) Thread.onSpinWait();
    }

    /** Uses CPU time on the calling thread, nearly all of it in the kernel. */
    static void callKernel(long millis) {
        byte[] buffer = new byte[1 << 20];
        long end = TaskClock.cpuNanos() + millis * MILLIS;
        try (FileInputStream zeros = new FileInputStream("/dev/urandom")) {
            while (TaskClock.cpuNanos() < end) if (zeros.read(buffer) < 0) throw new IllegalStateException();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
