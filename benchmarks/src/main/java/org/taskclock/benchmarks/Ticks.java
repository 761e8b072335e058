// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.Arrays;
import org.taskclock.ClockId;
import org.taskclock.TaskClock;

/** When the kernel's ticks come: all CPUs tick in step with CLOCK_MONOTONIC, which is System.nanoTime(). */
final class Ticks {
    private static final ClockId TICKED = ClockId.thread(0, ClockId.Kind.PROF);
    private static final int LOOKS = 25;

    private final long tickNanos;
    private final long phaseNanos;

    /** Watches some ticks go by: the tick counts of a running thread change at nothing else. */
    Ticks() {
        tickNanos = TaskClock.status().tickNanos();
        long first = nextChange();
        long[] late = new long[LOOKS];
        for (int i = 0; i < LOOKS; i++) late[i] = distance(nextChange() - first);
        Arrays.sort(late);
        // Some looks come late, as another thread had the CPU: the middle one does not.
        phaseNanos = first + late[LOOKS / 2];
    }

    /** How far from the nearest tick, before or after. */
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

    /** The first tick after this time. */
    long after(long nanos) {
        return nanos + tickNanos - Math.floorMod(nanos - phaseNanos, tickNanos);
    }
}
