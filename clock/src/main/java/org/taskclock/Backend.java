// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.Locale;

/**
 * The ways to read the calling thread's CPU time, best first. {@link TaskClock#status()} reports which one is in use
 * and why. On a virtual thread every backend needs the agent; see {@link TaskClock}.
 */
public enum Backend {
    /**
     * No system call: reads the time-stamp counter as long as a marker in the C library's restartable-sequences area
     * shows that the thread has not been switched out. Requires glibc 2.35 or later and a kernel before 6.19
     * (include/uapi/linux/rseq.h).
     */
    RSEQ(1),
    /**
     * Like {@link #RSEQ}, but with an area that TaskClock registers. The C library must leave registration to us
     * ({@code GLIBC_TUNABLES=glibc.pthread.rseq=0}). Works on kernels up to 6.18, and on 7.0 and later.
     */
    RSEQ_OWN(2),
    /**
     * Like {@link #RSEQ_OWN}, but takes the place of the area that the C library has registered, in each thread that
     * reads. Not used unless it is {@linkplain #allowTake allowed}, because a library that uses restartable sequences
     * itself and is loaded later may abort the process. Works on the kernels on which {@link #RSEQ_OWN} works.
     */
    RSEQ_TAKE(3),
    /** One system call: {@code clock_gettime} with an id that needs no lookup. Works on any Linux, with any libc. */
    SYSCALL(0),
    /** The JVM's {@link java.lang.management.ThreadMXBean}. Used on other systems or without the native library. */
    MXBEAN(4);

    /** The number that shared.h uses. */
    final int number;

    Backend(int number) {
        this.number = number;
    }

    /**
     * Returns the backend that this process uses now. Does not wait: backends better than {@link #SYSCALL} are tested
     * in the background 0.2 s after the first reading, so the result may change once.
     *
     * @return the backend in use
     */
    public static Backend inUse() {
        return Backends.inUse();
    }

    /**
     * Has the backend selected now, which takes some tens of milliseconds, unless it has been already, and returns it.
     * {@link TaskClock#status()} also gives the reasons, but creates the platform's management beans.
     *
     * @return the backend in use; see {@link ClockStatus} for when it changes again
     */
    public static Backend decided() {
        return Backends.decided();
    }

    /**
     * Allows or forbids {@link #RSEQ_TAKE} in this process and has the backend selected again, which takes some tens of
     * milliseconds. If it is forbidden while it is in use, each thread gives the C library's area back when it next
     * reads; one that does not read again keeps ours until it ends. This affects all copies of the library. It has no
     * effect if {@code -Dtaskclock.backend} names the backends to use.
     *
     * <p>On this backend, the first reading of a thread takes a lock of the dynamic linker, so it must not be made in a
     * signal handler.
     *
     * @param allowed whether it may be used if no better backend works
     * @return why readings need a system call although it is allowed; null if they need none, or if it is forbidden
     */
    public static String allowTake(boolean allowed) {
        return Backends.allowTake(allowed);
    }

    /** Returns the name that {@code -Dtaskclock.backend} accepts. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
