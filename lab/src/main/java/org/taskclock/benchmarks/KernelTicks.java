// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import org.apache.commons.math3.stat.StatUtils;
import org.taskclock.ClockId;
import org.taskclock.TaskClock;

/** The times of the kernel's ticks. All CPUs tick in step with CLOCK_MONOTONIC, which System.nanoTime() returns. */
final class KernelTicks {
    private static final ClockId TICKED = ClockId.thread(0, ClockId.Kind.PROF);
    private static final int OBSERVED = 25;

    private final long tickNanos;
    private final long phaseNanos;

    /** Observes some ticks: the tick-based time of a running thread changes only at a tick. */
    KernelTicks() {
        tickNanos = TaskClock.status().tickNanos();
        long first = nextChange();
        double[] delays = new double[OBSERVED];
        for (int i = 0; i < OBSERVED; i++) delays[i] = distance(nextChange() - first);
        // The median, because some ticks are observed late, after another thread had the CPU.
        phaseNanos = first + (long) StatUtils.percentile(delays, 50);
    }

    /** Returns the distance from the nearest tick, from minus to plus half a tick. */
    private long distance(long nanos) {
        long half = tickNanos / 2;
        return Math.floorMod(nanos + half, tickNanos) - half;
    }

    private static long nextChange() {
        long before = TICKED.nanos();
        while (TICKED.nanos() == before) Thread.onSpinWait();
        return System.nanoTime();
    }

    long tickNanos() {
        return tickNanos;
    }

    /** Returns the first tick after a time. */
    long after(long nanos) {
        return nanos + tickNanos - Math.floorMod(nanos - phaseNanos, tickNanos);
    }
}
