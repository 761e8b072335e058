// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.zoo;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Programs whose threads are too many, wait for each other, or share their work unevenly. */
final class ThreadPrograms {
    private static final long MILLI = 1_000_000;
    private static final int CONSUMERS = 4;
    private static final int IDLE_THREADS = 300;
    private static final int DEPTH = 30;
    private static final int POOL_SIZE = 60;

    private static volatile Object unusedSink;

    private ThreadPrograms() {}

    static void logLock() {
        Logger logger = Logger.getLogger("zoo");
        logger.setUseParentHandlers(false);
        logger.addHandler(new SlowHandler());
        for (int i = 1; i <= 6; i++) Threads.start("http-exec-" + i, () -> logger.log(Level.INFO, "request"));
    }

    /** Formats a record while it holds its lock, as those of the JDK did before JDK 25. */
    private static final class SlowHandler extends Handler {
        @Override
        public synchronized void publish(LogRecord record) {
            Threads.compute(MILLI);
            unusedSink = record;
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    static void threadChurn() {
        Threads.start("dispatcher", ThreadPrograms::dispatch);
    }

    private static void dispatch() {
        Threads.daemon("task-" + System.nanoTime() % 1_000, () -> Threads.compute(MILLI / 10))
                .start();
        Threads.pause(MILLI);
    }

    static void safepoints() {
        for (int i = 1; i <= IDLE_THREADS; i++)
            Threads.daemon("idle-" + i, () -> parkDeeply(DEPTH)).start();
        Threads.start("watchdog", ThreadPrograms::inspect);
    }

    private static void parkDeeply(int depth) {
        if (depth > 0) parkDeeply(depth - 1);
        else while (true) LockSupport.park();
    }

    private static void inspect() {
        unusedSink = ManagementFactory.getThreadMXBean().dumpAllThreads(true, true);
    }

    static void threadLeak() {
        Threads.start("acceptor", ThreadPrograms::acceptConnection);
    }

    private static void acceptConnection() {
        Threads.request();
        Threads.daemon("connection-" + System.nanoTime() % 100_000, () -> {
                    while (true) LockSupport.park();
                })
                .start();
        Threads.pause(50 * MILLI);
    }

    /** A pool fills up to its size, and is used in part. */
    static void poolFills() {
        AtomicInteger threads = new AtomicInteger();
        Threads.start("acceptor", () -> {
            if (threads.get() < POOL_SIZE)
                Threads.daemon("connection-" + threads.incrementAndGet(), () -> {
                            while (true) Threads.run(() -> Threads.pause(POOL_SIZE * MILLI));
                        })
                        .start();
            Threads.request();
            Threads.pause(50 * MILLI);
        });
    }

    /** At first, each consumer gets as many messages as the others; later, one gets them all. */
    static void imbalance() {
        List<BlockingQueue<Long>> queues = new ArrayList<>();
        for (int i = 1; i <= CONSUMERS; i++) {
            BlockingQueue<Long> queue = new LinkedBlockingQueue<>();
            queues.add(queue);
            Threads.Step consume = () -> consume(queue);
            Threads.start("consumer-" + i, consume, consume);
        }
        int[] next = new int[1];
        Threads.Step send = () -> {
            int queue = Threads.isMisbehaving() ? 1 : next[0]++ % CONSUMERS;
            if (queues.get(queue).size() < 10) queues.get(queue).add(3 * MILLI / 2);
            Threads.pause(4 * MILLI);
        };
        Threads.start("partitioner", send, send);
    }

    private static void consume(BlockingQueue<Long> queue) throws InterruptedException {
        Threads.compute(queue.take());
    }

    static void commonPool() {
        for (int i = 1; i <= 10; i++)
            Threads.start("http-exec-" + i, ThreadPrograms::computeInCommonPool, () -> CompletableFuture.runAsync(
                            ThreadPrograms::callBackend)
                    .get());
    }

    /** The common pool computes: all its threads are busy, and tasks wait, but none blocks. */
    static void busyCommonPool() {
        for (int i = 1; i <= 10; i++)
            Threads.start("http-exec-" + i, ThreadPrograms::computeInCommonPool, () -> CompletableFuture.runAsync(
                            SharingPrograms::runBatch)
                    .get());
    }

    private static void computeInCommonPool() throws ExecutionException, InterruptedException {
        CompletableFuture.runAsync(() -> Threads.compute(MILLI / 10)).get();
        Threads.pause(20 * MILLI);
    }

    private static void callBackend() {
        Threads.pause(1_000 * MILLI);
    }
}
