// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

/** Native functions to pin threads to processors, and to pass tokens between threads. */
final class NativeScheduling {
    static {
        BundledLibrary.load("libfloor.so");
    }

    private NativeScheduling() {}

    /**
     * Keeps the calling thread on one processor. Counts from the last one, because the first one handles most
     * interrupts.
     *
     * @throws IllegalStateException if there are not enough processors
     */
    static void keepOnProcessor(int fromLast) {
        if (pin(fromLast) < 0)
            throw new IllegalStateException("cannot use processor " + fromLast + ", counted from the last");
    }

    private static native int pin(int fromLast);

    /** Returns a new token, which is a file descriptor. It stays open. */
    static native int newToken();

    /** Gives a token. Never blocks. */
    static native boolean give(int token);

    /** Takes a token. Blocks until it is given. */
    static native boolean take(int token);

    /** Returns how often the calling thread has been switched out so far, or -1 if unknown. */
    static native long switches();
}
