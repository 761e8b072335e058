// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.flink;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.streaming.api.functions.async.ResultFuture;
import org.apache.flink.streaming.api.functions.async.RichAsyncFunction;

/** What the tasks do, and the kernel's figure for it: the clocks of all threads that work for a task. */
final class TaskWork {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int SIEVE = 100_000;
    private static final Map<String, Queue<Thread>> WORKERS = new ConcurrentHashMap<>();

    private TaskWork() {}

    /** Returns the sum of the clocks of a task's threads, which must all be alive. */
    static long kernelNanos(String task) {
        long nanos = 0;
        for (Thread thread : WORKERS.get(task)) {
            long cpu = THREADS.getThreadCpuTime(thread.getId());
            if (cpu < 0) throw new IllegalStateException(task + ": a thread has ended");
            nanos += cpu;
        }
        return nanos;
    }

    private static void addWorker(String task, Thread thread) {
        WORKERS.computeIfAbsent(task, ignored -> new ConcurrentLinkedQueue<>()).add(thread);
    }

    /** Computes, and then sleeps, on the task's thread. */
    static final class Own extends RichMapFunction<Long, Long> {
        private static final long serialVersionUID = 1;

        private final String task;
        private final int sieves;
        private final long sleepMillis;

        Own(String task, int sieves, long sleepMillis) {
            this.task = task;
            this.sieves = sieves;
            this.sleepMillis = sleepMillis;
        }

        @Override
        public void open(OpenContext context) {
            WORKERS.remove(task);
            addWorker(task, Thread.currentThread());
        }

        @Override
        public Long map(Long value) throws InterruptedException {
            long primes = compute(sieves);
            if (sleepMillis > 0) Thread.sleep(sleepMillis);
            return value + primes;
        }
    }

    /** Computes on threads of a pool that belongs to the task. */
    static final class Async extends RichAsyncFunction<Long, Long> {
        private static final long serialVersionUID = 1;

        private final String task;
        private final int threads;
        private final int sieves;
        private transient ExecutorService pool;

        Async(String task, int threads, int sieves) {
            this.task = task;
            this.threads = threads;
            this.sieves = sieves;
        }

        @Override
        public void open(OpenContext context) {
            WORKERS.remove(task);
            addWorker(task, Thread.currentThread());
            pool = Executors.newFixedThreadPool(threads, work -> {
                Thread thread = new Thread(work, task + " worker");
                addWorker(task, thread);
                return thread;
            });
            // The measurement of the cost also runs without the reporter.
            if (TaskCpu.hasAccount()) pool = TaskCpu.account().wrap(pool);
        }

        @Override
        public void asyncInvoke(Long value, ResultFuture<Long> result) {
            pool.execute(() -> {
                long sum = value + compute(sieves);
                try {
                    result.complete(List.of(sum));
                } catch (RejectedExecutionException e) {
                    // The job has been canceled.
                }
            });
        }

        @Override
        public void close() {
            if (pool != null) pool.shutdownNow();
        }
    }

    private static long compute(int sieves) {
        long primes = 0;
        for (int i = 0; i < sieves; i++) primes += primes();
        return primes;
    }

    private static int primes() {
        BitSet composite = new BitSet(SIEVE);
        int count = 0;
        for (int i = 2; i < SIEVE; i++) {
            if (composite.get(i)) continue;
            count++;
            for (long j = (long) i * i; j < SIEVE; j += i) composite.set((int) j);
        }
        return count;
    }
}
