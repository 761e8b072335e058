// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.List;

/**
 * A snapshot of how the clock works on this machine. Calibration and accuracy change while the JVM runs. The backend
 * changes if the process is restored from a checkpoint, if the agent's kill switch is used, and if something that was
 * lacking at the first reading, such as threads or files, is available again.
 *
 * @param backend the backend in use
 * @param backends every backend with its verdict, best first
 * @param binding how Java calls the native library: {@code FFM} (JDK 22 and later), {@code JNI}, or {@code none}
 * @param tickNanos the length of the kernel's tick in nanoseconds, the resolution of user and system time; -1 if
 *     unknown
 * @param accounting how the kernel splits user and system time
 * @param state a description of whether this copy of the library shares its state with other copies in the process
 * @param libc the name and version of the C library
 * @param calibration the rate of the time-stamp counter, if the backend reads it; otherwise null
 * @param accuracy how long the counter is trusted, if the backend reads it; otherwise null
 */
public record ClockStatus(
        Backend backend,
        List<Verdict> backends,
        String binding,
        long tickNanos,
        Accounting accounting,
        String state,
        String libc,
        Calibration calibration,
        Accuracy accuracy) {

    /**
     * The verdict on one backend.
     *
     * @param backend the backend
     * @param usable whether it can be used here
     * @param reason how it works, or why it cannot be used and the remedy, if there is one
     */
    public record Verdict(Backend backend, boolean usable, String reason) {}

    /**
     * The rate of the time-stamp counter, measured against CLOCK_MONOTONIC_RAW. It is known about 10 ms after the
     * library is loaded, and is measured again every second while the clock is in use.
     *
     * @param counterHertz counts per second; -1 while the rate is unknown, and every reading then asks the kernel
     * @param overNanos the length of the measurement in nanoseconds; -1 while the rate is unknown
     * @param resets how often the rate was found to be wrong and was measured from scratch, for instance because the
     *     machine was suspended or migrated
     */
    public record Calibration(long counterHertz, long overNanos, long resets) {
        /**
         * Returns the time between two values of the counter. Readings differ by multiples of it: less than 1 ns on
         * x86_64, 40 ns on an aarch64 processor whose counter runs at 25 MHz.
         *
         * @return nanoseconds; NaN while the rate is unknown
         */
        public double stepNanos() {
            return counterHertz > 0 ? 1e9 / counterHertz : Double.NaN;
        }
    }

    /**
     * The time for which the counter is trusted before the kernel is asked again, even if the thread was not switched
     * out. Until then, the clock is ahead by the time that the hypervisor or interrupts have taken from the thread.
     * Half a step of the counter, by which readings are old on average, is part of the budget.
     *
     * @param budgetNanos the bound on how far a reading is ahead on average, in nanoseconds
     *     ({@code -Dtaskclock.accuracy})
     * @param lifeNanos the longest time between two queries to the kernel that meets the budget, in nanoseconds, at
     *     most 10 ms; 0 if so much time is taken from the thread, or a step of the counter is so long, that every
     *     reading asks the kernel
     * @param observedNanos the CPU time, in nanoseconds, over which the time taken was observed
     * @param aheadNanos the sum of the time taken in that period, in nanoseconds, each part limited to the life; may be
     *     slightly negative if none was taken
     */
    public record Accuracy(long budgetNanos, long lifeNanos, long observedNanos, long aheadNanos) {}

    /** How the kernel splits user and system time (kernel/sched/cputime.c). */
    public enum Accounting {
        /** At each tick, the kernel samples what the CPU is doing. The default in nearly every distribution. */
        TICK,
        /** The kernel measures at each entry and exit. Used if {@code nohz_full=} names CPUs. */
        PRECISE,
        /** Unknown, because the native library is not in use. */
        UNKNOWN
    }
}
