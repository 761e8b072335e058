// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * Single reads of the kernel's clocks, bound by JNI. JDK 22 and later have another class of this name, bound by FFM, over
 * the same C functions. Callers check {@link Library#isLoaded()} first.
 */
final class Native {
    static {
        Library.bind(Native.class);
    }

    private Native() {}

    static String binding() {
        return "JNI";
    }

    static native long cpuNanos();

    static native long userNanos();

    static native long systemNanos();

    /** Takes one reading and returns its cpu; {@link #nowUserNanos()} tells the user part of it, on the same thread. */
    static native long nowCpuNanos();

    static native long nowUserNanos();

    /** The clock with this id, -1 if it cannot be read. */
    static native long clockNanos(int id);

    /** The same, for clocks that may take long to read. */
    static native long processNanos(int id);

    /** A number that changes at each tick of the kernel. */
    static native long tickStamp();

    /** Of the virtual thread that calls, by the numbers of {@link VirtualTimes}; -1 if nobody accounts for it. */
    static native long virtualNanos(int what);
}
