// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * Single reads of the kernel's clocks. JDK 22 and later have another class of this name, which goes over to FFM. Callers
 * check {@link Library#isLoaded()} first.
 */
final class Native {
    private Native() {}

    static String binding() {
        return "JNI";
    }

    /** Whether there is a faster binding to go over to. */
    static boolean canUpgrade() {
        return false;
    }

    static void upgrade() {}

    static long cpuNanos() {
        return JniBinding.cpuNanos();
    }

    static long userNanos() {
        return JniBinding.userNanos();
    }

    static long systemNanos() {
        return JniBinding.systemNanos();
    }

    /** Takes one reading and returns its cpu; {@link #nowUserNanos()} returns the user part of it, on the same thread. */
    static long nowCpuNanos() {
        return JniBinding.nowCpuNanos();
    }

    static long nowUserNanos() {
        return JniBinding.nowUserNanos();
    }

    /** The clock with this id, -1 if it cannot be read. */
    static long clockNanos(int id) {
        return JniBinding.clockNanos(id);
    }

    /** The same, for clocks that may take long to read. */
    static long processNanos(int id) {
        return JniBinding.processNanos(id);
    }

    /** A number that changes at each tick of the kernel. */
    static long tickStamp() {
        return JniBinding.tickStamp();
    }

    /** Of the calling virtual thread, by the numbers of {@link VirtualTimes}; -1 if nobody accounts for it. */
    static long virtualNanos(int what) {
        return JniBinding.virtualNanos(what);
    }
}
