// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.concurrent.ThreadLocalRandom;

/** Ways to spend user and system time, with easy and hard cases for sampling at ticks. */
@SuppressWarnings("ImmutableEnumChecker") // rounds without state
public enum Workload {
    USER("user only", (bursts, ticks) -> {
        bursts.user(System.nanoTime() + Nanos.MILLI);
    }),
    SYSTEM("mostly system", (bursts, ticks) -> {
        bursts.user(System.nanoTime() + 100 * Nanos.MICRO);
        bursts.system(System.nanoTime() + 2 * Nanos.MILLI);
    }),
    MIXED("mixed, bursts shorter than a tick", (bursts, ticks) -> {
        // Random, to avoid interference with the ticks.
        bursts.user(System.nanoTime() + ThreadLocalRandom.current().nextLong(2_400 * Nanos.MICRO));
        bursts.system(System.nanoTime() + ThreadLocalRandom.current().nextLong(1_600 * Nanos.MICRO));
    }),
    SHORT("bursts of 50 us, with sleeps", (bursts, ticks) -> {
        bursts.user(System.nanoTime() + 50 * Nanos.MICRO);
        bursts.system(System.nanoTime() + 50 * Nanos.MICRO);
        bursts.sleep(System.nanoTime() + 50 * Nanos.MICRO);
    }),
    ASLEEP_AT_TICKS("user between ticks, asleep at each", (bursts, ticks) -> {
        long tick = ticks.after(System.nanoTime());
        bursts.sleep(tick + Nanos.MARGIN);
        bursts.user(tick + ticks.tickNanos() - 2 * Nanos.MARGIN);
    }),
    AWAKE_AT_TICKS("user at ticks, asleep between", (bursts, ticks) -> {
        long tick = ticks.after(System.nanoTime() + 2 * Nanos.MARGIN);
        bursts.sleep(tick - 2 * Nanos.MARGIN);
        bursts.user(tick + Nanos.MARGIN);
    }),
    SYSTEM_AT_TICKS("user between ticks, system at each", (bursts, ticks) -> {
        long tick = ticks.after(System.nanoTime() + 2 * Nanos.MARGIN);
        bursts.user(tick - 2 * Nanos.MARGIN);
        bursts.system(tick + Nanos.MARGIN);
    }),
    YIELDS("Thread.yield, a little user between", (bursts, ticks) -> {
        bursts.user(System.nanoTime() + 20 * Nanos.MICRO);
        bursts.yields(200);
    }),
    SHORT_THREADS("threads of 3 ms, the whole process", (bursts, ticks) -> {
        bursts.user(System.nanoTime() + 2 * Nanos.MILLI);
        bursts.system(System.nanoTime() + Nanos.MILLI);
    });

    private interface Round {
        void run(MeasuredBursts bursts, KernelTicks ticks);
    }

    private final String text;
    private final Round round;

    Workload(String text, Round round) {
        this.text = text;
        this.round = round;
    }

    /** Runs one round of a few milliseconds at most. */
    void round(MeasuredBursts bursts, KernelTicks ticks) {
        round.run(bursts, ticks);
    }

    /** Returns whether the whole process is measured, and each round runs in its own thread. */
    boolean isOfProcess() {
        return this == SHORT_THREADS;
    }

    @Override
    public String toString() {
        return text;
    }

    private static final class Nanos {
        static final long MICRO = 1_000;
        static final long MILLI = 1_000_000;
        /** Larger than the delay of a sleep or a system call. */
        static final long MARGIN = 200 * MICRO;
    }
}
