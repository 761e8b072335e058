// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.Locale;

/** The ways to read the calling thread's CPU time, best first. Which one is in use, {@link TaskClock#status()} tells. */
public enum Rung {
    /**
     * No system call: the time-stamp counter, for as long as a marker in the C library's restartable-sequences area says that
     * the thread was not switched out. Needs glibc 2.35 and a kernel before 6.19.
     */
    RSEQ(1),
    /**
     * The same with an area of our own, where the C library was told to leave it to us
     * ({@code GLIBC_TUNABLES=glibc.pthread.rseq=0}): up to 6.18, and from 7.0.
     */
    RSEQ_OWN(2),
    /** One system call, {@code clock_gettime} with an id that needs no look-up. Any Linux, any libc. */
    SYSCALL(0),
    /** The JVM's {@link java.lang.management.ThreadMXBean}: other systems, or without the native library. */
    MXBEAN(3);

    /** As taskclock.h has it. */
    final int number;

    Rung(int number) {
        this.number = number;
    }

    /**
     * The way that is in use in this process at the moment. A better way than {@link #SYSCALL} is tried in the background, for some
     * tens of milliseconds from the first reading on, so this may change once.
     *
     * @return the way in use
     */
    public static Rung inUse() {
        return Rungs.inUse();
    }

    /**
     * The way that is in use once that is decided. Waits for it, some tens of milliseconds from the first reading on. {@link
     * TaskClock#status()} says why as well, but makes the platform's management beans.
     *
     * @return the way in use; the same for as long as the process runs, unless it is restored from a checkpoint
     */
    public static Rung decided() {
        return Rungs.decided();
    }

    /** The name as it is written in {@code -Dtaskclock.rung}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
