// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.List;

/**
 * What the clock found on this machine. A snapshot; it does not change while the JVM runs.
 *
 * @param rung the rung in use
 * @param rungs every rung with its verdict, best first
 * @param binding how Java reaches the native library: {@code FFM} (JDK 22 and later), {@code JNI}, or {@code none}
 * @param tickNanos the kernel's tick, the grain of user and system time; -1 if unknown
 * @param accounting how the kernel tells user from system time
 * @param state whether this copy of the library shares its state with others in the process, in words
 * @param libc the C library and its version, in words
 */
public record ClockStatus(
        Rung rung,
        List<Verdict> rungs,
        String binding,
        long tickNanos,
        Accounting accounting,
        String state,
        String libc) {

    /**
     * What was found out about one rung.
     *
     * @param rung the rung
     * @param usable whether it can be used here
     * @param reason why, or why not, and what would help
     */
    public record Verdict(Rung rung, boolean usable, String reason) {}

    /** How the kernel tells user from system time. */
    public enum Accounting {
        /** By looking at each tick what the CPU is doing: nearly every distribution. */
        TICK,
        /** By measuring at each entry to and exit from the kernel: where {@code nohz_full=} names CPUs. */
        PRECISE,
        /** Not known, as the native library is not in use. */
        UNKNOWN
    }
}
