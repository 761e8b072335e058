// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.List;

/**
 * What the clock found on this machine. A snapshot; only the calibration changes while the JVM runs.
 *
 * @param rung the rung in use
 * @param rungs every rung with its verdict, best first
 * @param binding how Java reaches the native library: {@code FFM} (JDK 22 and later), {@code JNI}, or {@code none}
 * @param tickNanos the kernel's tick, the grain of user and system time; -1 if unknown
 * @param accounting how the kernel tells user from system time
 * @param state whether this copy of the library shares its state with others in the process, in words
 * @param libc the C library and its version, in words
 * @param calibration the rate of the counter, on a rung that reads time from it; null on the others
 */
public record ClockStatus(
        Rung rung,
        List<Verdict> rungs,
        String binding,
        long tickNanos,
        Accounting accounting,
        String state,
        String libc,
        Calibration calibration) {

    /**
     * What was found out about one rung.
     *
     * @param rung the rung
     * @param usable whether it can be used here
     * @param reason why, or why not, and what would help
     */
    public record Verdict(Rung rung, boolean usable, String reason) {}

    /**
     * How fast the time-stamp counter runs, by CLOCK_MONOTONIC_RAW. It is measured over ever longer times: first 10 ms after
     * the library was loaded, and again whenever that time has doubled. It starts over where the machine slept meanwhile.
     *
     * @param counterHertz counts in a second; -1 until it is known, and the kernel is asked at each reading
     * @param overNanos the time that it was measured over, in nanoseconds; -1 until it is known
     * @param baseNanos the nanoseconds after which the kernel is asked again though nothing came between, at present; -1 until it
     *     is known. More with time, and less where a host or interrupts take the processor away and the kernel does not count it
     */
    public record Calibration(long counterHertz, long overNanos, long baseNanos) {}

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
