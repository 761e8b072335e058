// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

/** Native functions that disturb threads by moving them and sending them signals, and counters of disturbances. */
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

    static native void deleteTimer(long timer);

    /** Returns the number of signals that all timers have sent so far. */
    static native long signals();

    /** Returns how often threads of this process have blocked so far, or -1 if unknown. */
    static native long blocks();

    /** Returns how often threads of this process have been preempted so far, or -1 if unknown. */
    static native long preemptions();
}
