// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Kinds of threads that are disturbed while TaskClock is compared with the kernel's clock on them.
 * {@link ReadingComparator#isActive} decides when each kind runs.
 */
enum Disturbance {
    PREEMPTED("spinners, preempted") {
        @Override
        int threads(int processors) {
            return processors + 1;
        }

        @Override
        void run(ReadingComparator comparator, Counts counts) {
            while (comparator.isRunning()) {
                comparator.compare();
                comparator.spin();
                comparator.sleepWhileInactive();
            }
        }
    },
    YIELDING("yielding to each other") {
        /** Runs on one processor, because threads are switched out for the shortest time there. */
        @Override
        @SuppressWarnings("ThreadPriorityCheck") // a yield is one way to be switched out
        void run(ReadingComparator comparator, Counts counts) {
            NativeDisturbance.move(ReadingComparator.tid(), 0);
            while (comparator.isRunning()) {
                comparator.compare();
                Thread.yield();
                if (comparator.random.nextInt(16) == 0) comparator.spin();
                if (comparator.random.nextInt(16) == 0) comparator.sleepWhileInactive();
            }
        }
    },
    ASLEEP("sleepers") {
        @Override
        void run(ReadingComparator comparator, Counts counts) {
            while (comparator.isRunning()) {
                comparator.compareAround(comparator::sleep);
                comparator.spin();
                comparator.sleepWhileInactive();
            }
        }
    },
    BLOCKED("blocked in a pipe") {
        /**
         * Sends bytes to a thread that returns them. Half of the time, both run on one processor, because switches are
         * shortest there.
         */
        @Override
        void run(ReadingComparator comparator, Counts counts) throws IOException, InterruptedException {
            Pipe request = Pipe.open();
            Pipe response = Pipe.open();
            SplittableRandom random = comparator.random;
            int tid = ReadingComparator.tid();
            int processor = random.nextInt(counts.processors);
            Thread echo = new Thread(
                    () -> {
                        NativeDisturbance.move(ReadingComparator.tid(), processor);
                        echo(request, response);
                    },
                    "echo");
            echo.start();
            ByteBuffer one = ByteBuffer.allocateDirect(1);
            while (comparator.isRunning()) {
                comparator.compareAround(() -> {
                    send(request, one);
                    receive(response, one);
                });
                if (random.nextInt(4) == 0) comparator.spin();
                if (random.nextInt(1000) == 0)
                    NativeDisturbance.move(tid, random.nextBoolean() ? processor : random.nextInt(counts.processors));
                comparator.sleepWhileInactive();
            }
            request.sink().close();
            echo.join();
            response.source().close();
        }
    },
    MIGRATED("migrated") {
        /** Moves itself occasionally. Another thread moves it at any moment. */
        @Override
        void run(ReadingComparator comparator, Counts counts) throws InterruptedException {
            int processors = counts.processors;
            int tid = ReadingComparator.tid();
            SplittableRandom random = comparator.random.split();
            Thread mover = new Thread(
                    () -> {
                        while (comparator.isRunning()) {
                            if (!NativeDisturbance.move(tid, random.nextInt(processors)))
                                throw new IllegalStateException("cannot move a thread");
                            LockSupport.parkNanos(1 + random.nextLong(500_000));
                        }
                    },
                    "mover");
            mover.start();
            int last = NativeDisturbance.processor();
            while (comparator.isRunning()) {
                if (comparator.random.nextInt(16) == 0)
                    comparator.compareAround(() -> NativeDisturbance.move(tid, comparator.random.nextInt(processors)));
                comparator.compare();
                comparator.spin();
                int now = NativeDisturbance.processor();
                if (now != last) counts.migrations.increment();
                last = now;
                comparator.sleepWhileInactive();
            }
            mover.join();
        }
    },
    SIGNALED("hit by a timer's signals") {
        @Override
        void run(ReadingComparator comparator, Counts counts) {
            while (comparator.isRunning()) {
                long timer = NativeDisturbance.startTimer(
                        ReadingComparator.tid(), 20_000 + comparator.random.nextLong(60_000));
                if (timer < 0)
                    throw new IllegalStateException(
                            "cannot create a timer: check the limit for pending signals, ulimit -i");
                while (comparator.isRunning() && comparator.isActive()) {
                    comparator.compare();
                    comparator.spin();
                    if (comparator.random.nextInt(64) == 0) comparator.compareAround(comparator::sleep);
                }
                NativeDisturbance.deleteTimer(timer);
                comparator.sleepWhileInactive();
            }
        }
    },
    SHORT_LIVED("short threads") {
        @Override
        void run(ReadingComparator comparator, Counts counts) throws InterruptedException {
            while (comparator.isRunning()) {
                int rounds = comparator.random.nextInt(20);
                Thread thread = new Thread(
                        () -> {
                            comparator.changeThread();
                            comparator.compare();
                            for (int i = 0; i < rounds; i++) {
                                comparator.spin();
                                comparator.compare();
                            }
                        },
                        "short");
                thread.start();
                thread.join();
                counts.threads.increment();
                comparator.changeThread();
                comparator.sleepWhileInactive();
            }
        }
    },
    ALLOCATING("allocating") {
        @Override
        void run(ReadingComparator comparator, Counts counts) {
            byte[][] kept = new byte[1000][];
            while (comparator.isRunning()) {
                comparator.compareAround(() -> {
                    for (int i = 0; i < 10; i++)
                        kept[comparator.random.nextInt(kept.length)] = new byte[comparator.random.nextInt(20_000)];
                });
                comparator.spin();
                comparator.sleepWhileInactive();
            }
        }
    };

    /** Counts disturbances. */
    static final class Counts {
        final int processors = NativeDisturbance.processors();
        final LongAdder migrations = new LongAdder();
        final LongAdder threads = new LongAdder();
    }

    private final String text;

    Disturbance(String text) {
        this.text = text;
    }

    int threads(int processors) {
        return 2;
    }

    /** Compares until {@link ReadingComparator#isRunning} returns false. */
    abstract void run(ReadingComparator comparator, Counts counts) throws IOException, InterruptedException;

    private static void echo(Pipe request, Pipe response) {
        ByteBuffer one = ByteBuffer.allocateDirect(1);
        while (receive(request, one)) send(response, one);
    }

    private static void send(Pipe pipe, ByteBuffer one) {
        try {
            one.clear();
            pipe.sink().write(one);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean receive(Pipe pipe, ByteBuffer one) {
        try {
            one.clear();
            return pipe.source().read(one) >= 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return text;
    }
}
