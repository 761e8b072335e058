// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * Single reads of the kernel's clocks: by JNI at first, and by FFM, which costs a third, once that is linked. Linking takes
 * the JVM longer than many a program runs, so no reading waits for it. Older JDKs have another class of this name, which stays with JNI.
 * Callers check {@link Library#isLoaded()} first.
 */
final class Native {
    /** Not volatile: a thread that sees it late goes on by JNI, and who sees it finds the class initialized. */
    private static boolean isLinked;

    private Native() {}

    static String binding() {
        return isLinked ? "FFM" : "JNI";
    }

    /** Whether there is a faster binding to go over to. */
    static boolean canUpgrade() {
        return !isLinked;
    }

    /** Makes the fastest binding of this JDK ready and goes over to it. Takes long; any thread may do it. */
    static void upgrade() {
        FfmBinding.warmUp();
        isLinked = true;
    }

    static long cpuNanos() {
        return isLinked ? FfmBinding.cpuNanos() : JniBinding.cpuNanos();
    }

    static long userNanos() {
        return isLinked ? FfmBinding.userNanos() : JniBinding.userNanos();
    }

    static long systemNanos() {
        return isLinked ? FfmBinding.systemNanos() : JniBinding.systemNanos();
    }

    /** Takes one reading and returns its cpu; {@link #nowUserNanos()} returns the user part of it, on the same thread. */
    static long nowCpuNanos() {
        return isLinked ? FfmBinding.nowCpuNanos() : JniBinding.nowCpuNanos();
    }

    static long nowUserNanos() {
        return isLinked ? FfmBinding.nowUserNanos() : JniBinding.nowUserNanos();
    }

    /** The clock with this id, -1 if it cannot be read. */
    static long clockNanos(int id) {
        return isLinked ? FfmBinding.clockNanos(id) : JniBinding.clockNanos(id);
    }

    /** The same, for clocks that may take long to read. */
    static long processNanos(int id) {
        return isLinked ? FfmBinding.processNanos(id) : JniBinding.processNanos(id);
    }

    /** A number that changes at each tick of the kernel. */
    static long tickStamp() {
        return isLinked ? FfmBinding.tickStamp() : JniBinding.tickStamp();
    }

    /** Of the calling virtual thread, by the numbers of {@link VirtualTimes}; -1 if nobody accounts for it. */
    static long virtualNanos(int what) {
        return isLinked ? FfmBinding.virtualNanos(what) : JniBinding.virtualNanos(what);
    }
}
