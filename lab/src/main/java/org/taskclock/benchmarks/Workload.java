// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.concurrent.ThreadLocalRandom;

/** Ways to spend user and system time, with easy and hard cases for sampling at ticks. */
public enum Workload {
    USER("user only") {
        @Override
        void round(MeasuredBursts bursts, KernelTicks ticks) {
            bursts.user(System.nanoTime() + MILLI);
        }
    },
    SYSTEM("mostly system") {
        @Override
        void round(MeasuredBursts bursts, KernelTicks ticks) {
            bursts.user(System.nanoTime() + 100 * MICRO);
            bursts.system(System.nanoTime() + 2 * MILLI);
        }
    },
    MIXED("mixed, bursts shorter than a tick") {
        @Override
        void round(MeasuredBursts bursts, KernelTicks ticks) {
            // Random, to avoid interference with the ticks.
            bursts.user(System.nanoTime() + ThreadLocalRandom.current().nextLong(2_400 * MICRO));
            bursts.system(System.nanoTime() + ThreadLocalRandom.current().nextLong(1_600 * MICRO));
        }
    },
    SHORT("bursts of 50 us, with sleeps") {
        @Override
        void round(MeasuredBursts bursts, KernelTicks ticks) {
            bursts.user(System.nanoTime() + 50 * MICRO);
            bursts.system(System.nanoTime() + 50 * MICRO);
            bursts.sleep(System.nanoTime() + 50 * MICRO);
        }
    },
    ASLEEP_AT_TICKS("user between ticks, asleep at each") {
        @Override
        void round(MeasuredBursts bursts, KernelTicks ticks) {
            long tick = ticks.after(System.nanoTime());
            bursts.sleep(tick + MARGIN);
            bursts.user(tick + ticks.tickNanos() - 2 * MARGIN);
        }
    },
    AWAKE_AT_TICKS("user at ticks, asleep between") {
        @Override
        void round(MeasuredBursts bursts, KernelTicks ticks) {
            long tick = ticks.after(System.nanoTime() + 2 * MARGIN);
            bursts.sleep(tick - 2 * MARGIN);
            bursts.user(tick + MARGIN);
        }
    },
    SYSTEM_AT_TICKS("user between ticks, system at each") {
        @Override
        void round(MeasuredBursts bursts, KernelTicks ticks) {
            long tick = ticks.after(System.nanoTime() + 2 * MARGIN);
            bursts.user(tick - 2 * MARGIN);
            bursts.system(tick + MARGIN);
        }
    },
    YIELDS("Thread.yield, a little user between") {
        @Override
        void round(MeasuredBursts bursts, KernelTicks ticks) {
            bursts.user(System.nanoTime() + 20 * MICRO);
            bursts.yields(200);
        }
    },
    SHORT_THREADS("threads of 3 ms, the whole process") {
        @Override
        void round(MeasuredBursts bursts, KernelTicks ticks) {
            bursts.user(System.nanoTime() + 2 * MILLI);
            bursts.system(System.nanoTime() + MILLI);
        }
    };

    private static final long MICRO = 1_000;
    private static final long MILLI = 1_000_000;
    /** Larger than the delay of a sleep or a system call. */
    private static final long MARGIN = 200 * MICRO;

    private final String text;

    Workload(String text) {
        this.text = text;
    }

    /** Runs one round of a few milliseconds at most. */
    abstract void round(MeasuredBursts bursts, KernelTicks ticks);

    /** Returns whether the whole process is measured, and each round runs in its own thread. */
    boolean isOfProcess() {
        return this == SHORT_THREADS;
    }

    @Override
    public String toString() {
        return text;
    }
}
