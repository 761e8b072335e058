// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * Reads CPU clocks through JNI, one value per call. JDK 22 and later use another class of this name, which switches to
 * FFM. Callers check {@link Library#isAvailable()} first.
 */
final class Native {
    private Native() {}

    static String binding() {
        return "JNI";
    }

    /** Returns whether a faster binding is available. */
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

    /** Takes a reading and returns its cpu. {@link #nowUserNanos()} returns its user part, on the same thread. */
    static long nowCpuNanos() {
        return JniBinding.nowCpuNanos();
    }

    static long nowUserNanos() {
        return JniBinding.nowUserNanos();
    }

    /** Reads the clock with this id; returns -1 if it cannot be read. */
    static long clockNanos(int id) {
        return JniBinding.clockNanos(id);
    }

    /** Like {@link #clockNanos}, for clocks that may be slow to read. */
    static long processNanos(int id) {
        return JniBinding.processNanos(id);
    }

    /** Returns a number that changes at each tick of the kernel. */
    static long tickStamp() {
        return JniBinding.tickStamp();
    }

    /**
     * Returns a value of the calling virtual thread, by its number in {@link VirtualThreadClock}; -1 if the agent does
     * not track the thread.
     */
    static long virtualNanos(int value) {
        return JniBinding.virtualNanos(value);
    }
}
