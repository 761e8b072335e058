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
    RSEQ(0),
    /**
     * The same with an area of our own, where the C library was told to leave it to us
     * ({@code GLIBC_TUNABLES=glibc.pthread.rseq=0}): up to 6.18, and from 7.0.
     */
    RSEQ_OWN(1),
    /** One system call, {@code clock_gettime} with an id that needs no look-up. Any Linux, any libc. */
    SYSCALL(2),
    /** The JVM's {@link java.lang.management.ThreadMXBean}: other systems, or without the native library. */
    MXBEAN(3);

    /** As taskclock.h has it. */
    final int number;

    Rung(int number) {
        this.number = number;
    }

    /**
     * The way that is in use in this process. {@link TaskClock#status()} tells why, but makes the platform's management beans
     * for that.
     *
     * @return the same for as long as the process runs
     */
    public static Rung inUse() {
        return Rungs.CHOSEN;
    }

    /** The name as it is written in {@code -Dtaskclock.rung}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
