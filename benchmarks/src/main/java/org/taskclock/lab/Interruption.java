// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Ctrl-C: ends the program that is being measured, and lets the JVM live until what was measured is written. */
final class Interruption {
    private static final int LONGEST_SECONDS = 20;

    /** Thrown where a measurement was cut short. */
    static final class Cut extends Exception {
        private static final long serialVersionUID = 1;
    }

    private final CountDownLatch written = new CountDownLatch(1);
    private final Thread hook = new Thread(this::interrupt, "interruption");
    private volatile boolean come;
    private volatile Process program;

    Interruption() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private void interrupt() {
        come = true;
        Process running = program;
        if (running != null) running.destroy();
        try {
            if (!written.await(LONGEST_SECONDS, TimeUnit.SECONDS)) System.err.println("taskclock: gave up waiting");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    boolean hasCome() {
        return come;
    }

    void check() throws Cut {
        if (come) throw new Cut();
    }

    void running(Process process) {
        program = process;
        if (come && process != null) process.destroy();
    }

    /** All is written: the JVM may end. */
    void over() {
        written.countDown();
    }
}
