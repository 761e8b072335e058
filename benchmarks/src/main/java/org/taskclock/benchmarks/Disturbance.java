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

/** What threads go through while their clock is compared with the kernel's, all of them at the same time. */
enum Disturbance {
    PREEMPTED("spinners, preempted") {
        @Override
        int threads(int processors) {
            return processors + 1;
        }

        @Override
        void live(Comparer comparer, Counts counts) {
            while (comparer.isRunning()) {
                comparer.compare();
                comparer.spin();
                comparer.rest();
            }
        }
    },
    YIELDING("yielding to each other") {
        /** On one processor: nothing is switched out for a shorter time. */
        @Override
        @SuppressWarnings("ThreadPriorityCheck") // a yield is one of the ways to be switched out
        void live(Comparer comparer, Counts counts) {
            Disturb.move(Comparer.tid(), 0);
            while (comparer.isRunning()) {
                comparer.compare();
                Thread.yield();
                if (comparer.random.nextInt(16) == 0) comparer.spin();
                if (comparer.random.nextInt(16) == 0) comparer.rest();
            }
        }
    },
    ASLEEP("sleepers") {
        @Override
        void live(Comparer comparer, Counts counts) {
            while (comparer.isRunning()) {
                comparer.around(comparer::sleep);
                comparer.spin();
                comparer.rest();
            }
        }
    },
    BLOCKED("blocked in a pipe") {
        /** Sends bytes to a thread that sends them back, half the time on its processor, where switches are shortest. */
        @Override
        void live(Comparer comparer, Counts counts) throws IOException, InterruptedException {
            Pipe there = Pipe.open();
            Pipe back = Pipe.open();
            SplittableRandom random = comparer.random;
            int tid = Comparer.tid();
            int processor = random.nextInt(counts.processors);
            Thread echo = new Thread(
                    () -> {
                        Disturb.move(Comparer.tid(), processor);
                        echo(there, back);
                    },
                    "echo");
            echo.start();
            ByteBuffer one = ByteBuffer.allocateDirect(1);
            while (comparer.isRunning()) {
                comparer.around(() -> {
                    transfer(there, one);
                    receive(back, one);
                });
                if (random.nextInt(4) == 0) comparer.spin();
                if (random.nextInt(1000) == 0)
                    Disturb.move(tid, random.nextBoolean() ? processor : random.nextInt(counts.processors));
                comparer.rest();
            }
            there.sink().close();
            echo.join();
            back.source().close();
        }
    },
    MIGRATED("migrated") {
        /** Moves by itself, and another thread moves it at any moment. */
        @Override
        void live(Comparer comparer, Counts counts) throws InterruptedException {
            int processors = counts.processors;
            int tid = Comparer.tid();
            SplittableRandom random = comparer.random.split();
            Thread mover = new Thread(
                    () -> {
                        while (comparer.isRunning()) {
                            if (!Disturb.move(tid, random.nextInt(processors))) throw new IllegalStateException("move");
                            LockSupport.parkNanos(1 + random.nextLong(500_000));
                        }
                    },
                    "mover");
            mover.start();
            int last = Disturb.processor();
            while (comparer.isRunning()) {
                if (comparer.random.nextInt(16) == 0)
                    comparer.around(() -> Disturb.move(tid, comparer.random.nextInt(processors)));
                comparer.compare();
                comparer.spin();
                int now = Disturb.processor();
                if (now != last) counts.migrations.increment();
                last = now;
                comparer.rest();
            }
            mover.join();
        }
    },
    SIGNALLED("hit by a timer's signals") {
        @Override
        void live(Comparer comparer, Counts counts) {
            while (comparer.isRunning()) {
                long timer = Disturb.startTimer(Comparer.tid(), 20_000 + comparer.random.nextLong(60_000));
                if (timer < 0)
                    throw new IllegalStateException("no timer: see the limit for pending signals, ulimit -i");
                while (comparer.isRunning() && comparer.isOurTurn()) {
                    comparer.compare();
                    comparer.spin();
                    if (comparer.random.nextInt(64) == 0) comparer.around(comparer::sleep);
                }
                Disturb.stopTimer(timer);
                comparer.rest();
            }
        }
    },
    SHORT_LIVED("short threads") {
        @Override
        void live(Comparer comparer, Counts counts) throws InterruptedException {
            while (comparer.isRunning()) {
                int rounds = comparer.random.nextInt(20);
                Thread thread = new Thread(
                        () -> {
                            comparer.changeThread();
                            comparer.compare();
                            for (int i = 0; i < rounds; i++) {
                                comparer.spin();
                                comparer.compare();
                            }
                        },
                        "short");
                thread.start();
                thread.join();
                counts.threads.increment();
                comparer.changeThread();
                comparer.rest();
            }
        }
    },
    ALLOCATING("allocating") {
        @Override
        void live(Comparer comparer, Counts counts) {
            byte[][] kept = new byte[1000][];
            while (comparer.isRunning()) {
                comparer.around(() -> {
                    for (int i = 0; i < 10; i++)
                        kept[comparer.random.nextInt(kept.length)] = new byte[comparer.random.nextInt(20_000)];
                });
                comparer.spin();
                comparer.rest();
            }
        }
    };

    /** How often what happened. */
    static final class Counts {
        final int processors = Disturb.processors();
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

    /** Compares until it is time to stop. */
    abstract void live(Comparer comparer, Counts counts) throws IOException, InterruptedException;

    private static void echo(Pipe there, Pipe back) {
        ByteBuffer one = ByteBuffer.allocateDirect(1);
        while (receive(there, one)) transfer(back, one);
    }

    private static void transfer(Pipe pipe, ByteBuffer one) {
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
