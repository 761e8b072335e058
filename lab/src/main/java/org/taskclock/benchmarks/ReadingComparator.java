// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.taskclock.ClockId;
import org.taskclock.KernelReaders;
import org.taskclock.TaskClock;

/** Compares TaskClock with the kernel's clock on the calling thread. Used by one thread at a time. */
final class ReadingComparator {
    private static final ClockId KERNEL = ClockId.thread(0, ClockId.Kind.SCHED);
    private static final long MICRO = 1_000;
    private static final long PHASE_NANOS = 500_000_000;

    final SplittableRandom random;
    private final ReadingValidator validator;
    private final int kind;
    private final int kinds;
    private final long recordFrom;
    private final long end;
    private final long[] parts = new long[3];

    /**
     * Constructs a comparator.
     *
     * @param kind the index of the kind of thread, below {@code kinds}
     * @param recordFrom the end of the warm-up, by System.nanoTime()
     * @param end the end of the comparison, by System.nanoTime()
     */
    ReadingComparator(
            ReadingValidator validator, SplittableRandom random, int kind, int kinds, long recordFrom, long end) {
        this.validator = validator;
        this.random = random;
        this.kind = kind;
        this.kinds = kinds;
        this.recordFrom = recordFrom;
        this.end = end;
    }

    boolean isRunning() {
        return System.nanoTime() - end < 0;
    }

    /**
     * Returns whether the thread should run now. Half of the time, all kinds of threads run. The rest of the time, they
     * take turns, so that other threads rarely delay a switch.
     */
    boolean isActive() {
        long phase = Math.floorMod(end - System.nanoTime(), 2 * PHASE_NANOS);
        return phase >= PHASE_NANOS || phase * kinds / PHASE_NANOS == kind;
    }

    void sleepWhileInactive() {
        while (isRunning() && !isActive()) compareAround(() -> LockSupport.parkNanos(random.nextLong(5_000 * MICRO)));
    }

    /** Prepares for comparisons on another thread. */
    void changeThread() {
        validator.changeThread();
    }

    /**
     * Compares once. Reads the kernel's clock directly before and after TaskClock, because reading it through TaskClock
     * would refresh TaskClock's base.
     */
    void compare() {
        int variant = random.nextInt(16);
        long wallBefore = System.nanoTime();
        long before = KERNEL.nanos();
        long cpu;
        if (variant == 15) {
            // Compare with the time of a system call, to see whether this reading made one.
            long start = System.nanoTime();
            cpu = TaskClock.cpuNanos();
            long between = System.nanoTime();
            KERNEL.nanos();
            validator.errors().recordTime(between - start, System.nanoTime() - between);
        } else if (variant < 2) {
            TaskClock.read(parts);
            cpu = parts[0];
        } else {
            cpu = TaskClock.cpuNanos();
            // Read several times in a row, because a small step back would no longer show after a system call.
            for (int i = variant < 6 ? random.nextInt(20) : 0; i > 0; i--) {
                validator.checkNext(cpu);
                cpu = TaskClock.cpuNanos();
            }
        }
        long after = KERNEL.nanos();
        validator.checkCpu(wallBefore, before, cpu, after, System.nanoTime(), wallBefore - recordFrom >= 0);
        if (variant < 2) {
            validator.checkParts(cpu, parts[1], parts[2]);
        } else if (variant == 2) {
            validator.checkUser(TaskClock.userNanos());
            validator.checkSystem(TaskClock.systemNanos());
        }
    }

    /** Spins for a random time: usually not at all, rarely longer than the life of a base. */
    void spin() {
        int length = random.nextInt(1000);
        if (length < 600) return;
        long nanos = length < 850
                ? random.nextLong(10 * MICRO)
                : length < 970
                        ? random.nextLong(100 * MICRO)
                        : length < 999 ? random.nextLong(1_000 * MICRO) : random.nextLong(3_000 * MICRO);
        long until = System.nanoTime() + nanos;
        while (System.nanoTime() - until < 0) Thread.onSpinWait();
    }

    /** Compares right before and right after an action that blocks. */
    void compareAround(Runnable block) {
        compare();
        block.run();
        compare();
    }

    /** Sleeps for a random time: usually as short as the kernel allows, sometimes for milliseconds. */
    void sleep() {
        LockSupport.parkNanos(1 + random.nextLong(random.nextInt(8) == 0 ? 3_000 * MICRO : 50 * MICRO));
    }

    static int tid() {
        return KernelReaders.tid();
    }
}
