// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Handles Ctrl-C: ends the program being measured, and delays the exit of this JVM until the measurements are written.
 */
final class InterruptHandler {
    private static final int MAX_WAIT_SECONDS = 20;

    private final CountDownLatch written = new CountDownLatch(1);
    private final Thread hook = new Thread(this::interrupt, "interruption");
    private volatile boolean interrupted;
    private volatile Process program;

    InterruptHandler() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private void interrupt() {
        interrupted = true;
        Process running = program;
        if (running != null) running.destroy();
        try {
            if (!written.await(MAX_WAIT_SECONDS, TimeUnit.SECONDS))
                System.err.println("taskclock: timed out writing the measurements");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    boolean isInterrupted() {
        return interrupted;
    }

    /** Throws if the user has interrupted the measurement. */
    void check() throws InterruptedException {
        if (interrupted) throw new InterruptedException();
    }

    void running(Process process) {
        program = process;
        if (interrupted && process != null) process.destroy();
    }

    /** Allows the JVM to exit. */
    void allowExit() {
        written.countDown();
    }
}
