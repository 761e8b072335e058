// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.zoo;

import java.util.concurrent.locks.LockSupport;

/** The threads of a program. They answer requests until the program begins to misbehave. */
final class Threads {
    private static final long PAUSE_NANOS = 20_000_000;
    private static final int ITERATIONS = 150_000;

    /** What a thread does again and again. */
    interface Step {
        void run() throws Exception;
    }

    private static volatile boolean misbehaving;
    private static volatile long unusedSink;

    private Threads() {}

    static void misbehave() {
        misbehaving = true;
    }

    static boolean isMisbehaving() {
        return misbehaving;
    }

    /** Starts a thread that answers requests at first. */
    static void start(String name, Step wrong) {
        start(name, Threads::request, wrong);
    }

    static void start(String name, Step normal, Step wrong) {
        daemon(name, () -> {
                    while (true) run(misbehaving ? wrong : normal);
                })
                .start();
    }

    static Thread daemon(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    static void run(Step step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Computes for about a third of a millisecond, and waits for the next request. */
    static void request() {
        compute(ITERATIONS);
        pause(PAUSE_NANOS);
    }

    /** Computes for about 1.5 ns per iteration, with steps that the compiler cannot combine. */
    static void compute(long iterations) {
        long value = iterations;
        for (long i = 0; i < iterations; i++) {
            value ^= value << 13;
            value ^= value >>> 7;
            value ^= value << 17;
        }
        unusedSink = value;
    }

    static void pause(long nanos) {
        long end = System.nanoTime() + nanos;
        long left;
        while ((left = end - System.nanoTime()) > 0) LockSupport.parkNanos(left);
    }
}
