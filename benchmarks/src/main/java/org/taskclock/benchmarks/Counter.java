// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

/** The time-stamp counter, read in C. */
final class Counter {
    static {
        Bundled.load("libcounter.so");
    }

    private Counter() {}

    /** Makes sure that the native library is loaded. */
    static void load() {}

    /** Reads it in a loop in C. Returns the sum of the readings. */
    static native long read(int times);
}
