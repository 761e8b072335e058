// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedTransferQueue;
import org.taskclock.ClockId;
import org.taskclock.KernelReaders;
import org.taskclock.TaskClock;

/**
 * A thread of a query engine. It takes a split, runs it for a quantum, hands it to the next driver, and waits for
 * another split.
 */
final class QueryDriver extends Thread {
    private static final int PAGE_ROWS = 1 << 12;
    private static final int TABLE_SLOTS = 1 << 13;
    private static final int SLOT_SHIFT = 64 - 13;
    private static final ClockId KERNEL = ClockId.thread(0, ClockId.Kind.SCHED);

    /** Keeps the JIT compiler from removing the readings. */
    private static volatile long unusedSink;

    /**
     * A block of work.
     *
     * @param clock the clock to read before and after each operator call; null to compare TaskClock with the kernel
     * @param recorded whether to keep the errors
     */
    record Work(QueryPlan plan, ReadingLoop clock, boolean recorded, CountDownLatch splitsLeft) {}

    /** A share of the work, used by one driver at a time. */
    static final class Split {
        private final Work work;
        private final int number;
        private int quantum;

        Split(Work work, int number) {
            this.work = work;
            this.number = number;
        }
    }

    private final LinkedTransferQueue<Split> splits;
    private final CountDownLatch started;
    private final ReadingErrors errors = new ReadingErrors();
    private final Operator operator = new Operator();

    private volatile ClockId cpu;

    QueryDriver(LinkedTransferQueue<Split> splits, CountDownLatch started) {
        super("driver");
        this.splits = splits;
        this.started = started;
        setDaemon(true);
    }

    /** Returns this driver's CPU time by the kernel's clock. May be called from any thread. */
    long cpuNanos() {
        return cpu.nanos();
    }

    /** Returns the errors so far. May be called only between blocks. */
    ReadingErrors errors() {
        return errors;
    }

    @Override
    public void run() {
        cpu = ClockId.thread(KernelReaders.tid(), ClockId.Kind.SCHED);
        started.countDown();
        try {
            while (true) {
                Split split = splits.take();
                runQuantum(split);
                if (++split.quantum < split.work.plan.quanta()) splits.transfer(split);
                else split.work.splitsLeft.countDown();
            }
        } catch (InterruptedException e) {
            // The engine was closed.
        }
    }

    private void runQuantum(Split split) {
        int[] calls = split.work.plan.calls(split.number, split.quantum);
        unusedSink = split.work.clock == null ? compare(calls, split.work.recorded) : read(calls, split.work.clock);
    }

    private long read(int[] calls, ReadingLoop clock) {
        long used = 0;
        for (int rows : calls) {
            long start = clock.read(1);
            operator.process(rows);
            used += clock.read(1) - start;
        }
        return used;
    }

    // ---- accuracy

    private long compare(int[] calls, boolean recorded) {
        long used = 0;
        for (int rows : calls) {
            long start = compare(recorded);
            operator.process(rows);
            used += compare(recorded) - start;
        }
        return used;
    }

    /**
     * Reads the kernel's clock directly before and after TaskClock, because reading it through TaskClock would refresh
     * TaskClock's base.
     */
    private long compare(boolean recorded) {
        long before = KERNEL.nanos();
        long start = System.nanoTime();
        long nanos = TaskClock.cpuNanos();
        long end = System.nanoTime();
        long after = KERNEL.nanos();
        if (recorded) {
            errors.recordTime(end - start, System.nanoTime() - end);
            errors.record(ReadingValidator.error(before, nanos, after), after - before);
        }
        return nanos;
    }

    /** Hash aggregation over the rows of a page. */
    static final class Operator {
        private final long[] page = new SplittableRandom(0).longs(PAGE_ROWS).toArray();
        private final long[] table = new long[TABLE_SLOTS];

        long process(int rows) {
            long sum = 0;
            for (int i = 0; i < rows; i++) {
                long hash = (page[i & (PAGE_ROWS - 1)] + i) * 0x9E3779B97F4A7C15L;
                int slot = (int) (hash >>> SLOT_SHIFT);
                table[slot] += hash;
                sum ^= table[slot];
            }
            return sum;
        }
    }
}
