// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

/** The time-stamp counter, read in C. */
final class TimeStampCounter {
    static {
        BundledLibrary.load("libcounter.so");
    }

    private TimeStampCounter() {}

    /** Loads the native library. */
    static void load() {}

    /** Reads the counter in a loop in C. Returns the sum of the readings. */
    static native long read(int times);
}
