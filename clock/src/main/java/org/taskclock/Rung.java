// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.Locale;

/** The ways to read the calling thread's CPU time, best first. Which one is in use, {@link TaskClock#status()} tells. */
public enum Rung {
    /** One system call, {@code clock_gettime} with an id that needs no look-up. Any Linux, any libc. */
    SYSCALL,
    /** The JVM's {@link java.lang.management.ThreadMXBean}: other systems, or without the native library. */
    MXBEAN;

    /** The name as it is written in {@code -Dtaskclock.rung}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
