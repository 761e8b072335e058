// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.List;

/**
 * What the clock found on this machine. A snapshot; only calibration and accuracy change while the JVM runs, and the rung if
 * the process is restored from a checkpoint.
 *
 * @param rung the rung in use
 * @param rungs every rung with its verdict, best first
 * @param binding how Java reaches the native library: {@code FFM} (JDK 22 and later), {@code JNI}, or {@code none}
 * @param tickNanos the kernel's tick, the grain of user and system time; -1 if unknown
 * @param accounting how the kernel tells user from system time
 * @param state whether this copy of the library shares its state with others in the process, in words
 * @param libc the C library and its version, in words
 * @param calibration the rate of the counter, on a rung that reads time from it; null on the others
 * @param accuracy how long the counter is trusted, on such a rung; null on the others
 */
public record ClockStatus(
        Rung rung,
        List<Verdict> rungs,
        String binding,
        long tickNanos,
        Accounting accounting,
        String state,
        String libc,
        Calibration calibration,
        Accuracy accuracy) {

    /**
     * What was found out about one rung.
     *
     * @param rung the rung
     * @param usable whether it can be used here
     * @param reason why, or why not, and what would help
     */
    public record Verdict(Rung rung, boolean usable, String reason) {}

    /**
     * How fast the time-stamp counter runs, by CLOCK_MONOTONIC_RAW. It is known some 10 ms after the library was loaded, and
     * measured again in each second in which the clock is read.
     *
     * @param counterHertz counts in a second; -1 while it is not known, and the kernel is asked at each reading
     * @param overNanos the time that it was measured over, in nanoseconds; -1 while it is not known
     * @param resets how often it was found to be wrong and measured from scratch: the machine slept, or was moved
     */
    public record Calibration(long counterHertz, long overNanos, long resets) {}

    /**
     * How long the counter is trusted before the kernel is asked again, though the thread was not switched out. Time that a
     * hypervisor or interrupts take meanwhile is time by which the clock is ahead, until the kernel is asked.
     *
     * @param budgetNanos bound for how far a reading is ahead on average, in nanoseconds ({@code -Dtaskclock.accuracy})
     * @param lifeNanos the longest time between two questions that keeps to it, in nanoseconds, at most 10 ms; 0 where too much is
     *     taken for that, and the kernel is asked at each reading
     * @param observedNanos the CPU time over which it was seen how much is taken, in nanoseconds
     * @param aheadNanos the sum of what was taken in that time, in nanoseconds, each time at most the life; may be
     *     slightly negative where nothing was
     */
    public record Accuracy(long budgetNanos, long lifeNanos, long observedNanos, long aheadNanos) {}

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
