// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

/** What the JVM has no words for: which processor a thread runs on, and one thread's turn after another's. */
final class Scheduling {
    static {
        Bundled.load("libfloor.so");
    }

    private Scheduling() {}

    /**
     * Keeps the calling thread on one processor, counted from the last, as the first has most of the interrupts.
     *
     * @throws IllegalStateException if there are too few
     */
    static void keepOnProcessor(int fromLast) {
        if (pin(fromLast) < 0)
            throw new IllegalStateException("no processor " + fromLast + " from the last can be had");
    }

    private static native int pin(int fromLast);

    /** A file descriptor; it stays open. */
    static native int newToken();

    /** Never blocks. */
    static native boolean give(int token);

    /** Blocks until it was given. */
    static native boolean take(int token);

    /** How often the calling thread was switched out so far; -1 if unknown. */
    static native long switches();
}
