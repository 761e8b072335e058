// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

/** What disturbs threads and cannot be done from Java. */
final class Disturb {
    static {
        Bundled.load("libdisturb.so");
    }

    private Disturb() {}

    /** Notes the processors that the calling thread may use, for {@link #move}. Returns how many there are. */
    static native int processors();

    /** The one that the calling thread is on. */
    static native int processor();

    /** Moves a thread to one of those, counted from 0, and keeps it there. */
    static native boolean move(int tid, int which);

    /** Sends a thread a signal each period. Returns the timer; -1 if there is none. */
    static native long startTimer(int tid, long periodNanos);

    static native void stopTimer(long timer);

    /** Signals of all timers so far. */
    static native long signals();

    /** How often threads of this process gave up their processor so far. */
    static native long blocks();

    /** How often it was taken from them. */
    static native long preemptions();
}
