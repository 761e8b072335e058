// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

/** Native functions that disturb threads: processor affinity and timer signals; and counters of such disturbances. */
final class NativeDisturbance {
    static {
        BundledLibrary.load("libdisturb.so");
    }

    private NativeDisturbance() {}

    /** Records the processors that the calling thread may use, for {@link #move}. Returns their number. */
    static native int processors();

    /** Returns the processor on which the calling thread runs. */
    static native int processor();

    /** Moves a thread to one of the recorded processors, counted from 0, and keeps it there. */
    static native boolean move(int tid, int index);

    /** Sends a signal to a thread periodically. Returns the timer, or -1 if it cannot be created. */
    static native long startTimer(int tid, long periodNanos);

    /** Deletes a timer. */
    static native void deleteTimer(long timer);

    /** Returns the number of signals of all timers so far. */
    static native long signals();

    /** Returns how often threads of this process blocked so far. */
    static native long blocks();

    /** Returns how often threads of this process were preempted so far. */
    static native long preemptions();
}
