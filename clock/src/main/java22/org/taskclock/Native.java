// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * Reads CPU clocks, one value per call: through JNI at first, and through FFM, at a third of the cost, once FFM is
 * linked. Linking takes longer than many short programs run, so no reading waits for it. Older JDKs use another class
 * of this name, which always uses JNI. Callers check {@link Library#isAvailable()} first.
 */
final class Native {
    /**
     * Not volatile: a thread that sees the change late keeps using JNI, and one that sees it finds FfmBinding
     * initialized.
     */
    private static boolean isLinked;

    private Native() {}

    static String binding() {
        return isLinked ? "FFM" : "JNI";
    }

    /** Returns whether a faster binding is available. */
    static boolean canUpgrade() {
        return !isLinked;
    }

    /** Prepares FFM and switches to it. This is slow; any thread may call it. */
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

    /** Takes a reading and returns its cpu. {@link #nowUserNanos()} returns its user part, on the same thread. */
    static long nowCpuNanos() {
        return isLinked ? FfmBinding.nowCpuNanos() : JniBinding.nowCpuNanos();
    }

    static long nowUserNanos() {
        return isLinked ? FfmBinding.nowUserNanos() : JniBinding.nowUserNanos();
    }

    /** Reads the clock with this id; returns -1 if it cannot be read. */
    static long clockNanos(int id) {
        return isLinked ? FfmBinding.clockNanos(id) : JniBinding.clockNanos(id);
    }

    /** Like {@link #clockNanos}, for clocks that may be slow to read. */
    static long processNanos(int id) {
        return isLinked ? FfmBinding.processNanos(id) : JniBinding.processNanos(id);
    }

    /** Returns a number that changes at each tick of the kernel. */
    static long tickStamp() {
        return isLinked ? FfmBinding.tickStamp() : JniBinding.tickStamp();
    }

    /**
     * Returns a value of the calling virtual thread, by its number in {@link VirtualThreadClock}; -1 if the agent does
     * not track the thread.
     */
    static long virtualNanos(int value) {
        return isLinked ? FfmBinding.virtualNanos(value) : JniBinding.virtualNanos(value);
    }
}
