// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import org.taskclock.ClockId;
import org.taskclock.KernelReaders;
import org.taskclock.TaskClock;

/** Compares the clock with the kernel's on the thread that calls it; not for several at once. */
final class Comparer {
    private static final ClockId KERNEL = ClockId.thread(0, ClockId.Kind.SCHED);
    private static final long MICRO = 1_000;
    private static final long PHASE_NANOS = 500_000_000;

    final SplittableRandom random;
    private final Judge judge;
    private final int turn;
    private final int turns;
    private final long recordFrom;
    private final long end;
    private final long[] parts = new long[3];

    /**
     * Makes one for a thread to come.
     *
     * @param turn which of so many turns is the one of its kind
     * @param recordFrom when the warm-up is over, in System.nanoTime()
     * @param end when to stop
     */
    Comparer(Judge judge, SplittableRandom random, int turn, int turns, long recordFrom, long end) {
        this.judge = judge;
        this.random = random;
        this.turn = turn;
        this.turns = turns;
        this.recordFrom = recordFrom;
        this.end = end;
    }

    boolean isRunning() {
        return System.nanoTime() - end < 0;
    }

    /** Half the time all kinds of threads are busy; else one after the other, so that others seldom delay its switches. */
    boolean isOurTurn() {
        long phase = Math.floorMod(end - System.nanoTime(), 2 * PHASE_NANOS);
        return phase >= PHASE_NANOS || phase * turns / PHASE_NANOS == turn;
    }

    /** While it is not our turn, sleeps. */
    void rest() {
        while (isRunning() && !isOurTurn()) around(() -> LockSupport.parkNanos(random.nextLong(5_000 * MICRO)));
    }

    /** From now on another thread compares. */
    void changeThread() {
        judge.changeThread();
    }

    /**
     * Compares once. The kernel is asked around the clock's reading, not by it: a base that the clock holds stays as old as
     * it is.
     */
    void compare() {
        int way = random.nextInt(16);
        long wallBefore = System.nanoTime();
        long before = KERNEL.nanos();
        long cpu;
        if (way == 15) {
            // Whether this reading asked the kernel, the next one tells, which does.
            long start = System.nanoTime();
            cpu = TaskClock.cpuNanos();
            long between = System.nanoTime();
            KERNEL.nanos();
            judge.errors().time(between - start, System.nanoTime() - between);
        } else if (way < 2) {
            TaskClock.read(parts);
            cpu = parts[0];
        } else {
            cpu = TaskClock.cpuNanos();
            // One right after the other, as a small step back is over by the time the kernel has answered.
            for (int i = way < 6 ? random.nextInt(20) : 0; i > 0; i--) {
                judge.next(cpu);
                cpu = TaskClock.cpuNanos();
            }
        }
        long after = KERNEL.nanos();
        judge.cpu(wallBefore, before, cpu, after, System.nanoTime(), wallBefore - recordFrom >= 0);
        if (way < 2) {
            judge.parts(cpu, parts[1], parts[2]);
        } else if (way == 2) {
            judge.user(TaskClock.userNanos());
            judge.system(TaskClock.systemNanos());
        }
    }

    /** Uses the processor for a while: mostly not at all, rarely for longer than a base lives. */
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

    /** Compares right before and right after something that blocks. */
    void around(Runnable block) {
        compare();
        block.run();
        compare();
    }

    /** Sleeps: mostly as short as the kernel can, sometimes for milliseconds. */
    void sleep() {
        LockSupport.parkNanos(1 + random.nextLong(random.nextInt(8) == 0 ? 3_000 * MICRO : 50 * MICRO));
    }

    static int tid() {
        return KernelReaders.tid();
    }
}
