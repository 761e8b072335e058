// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.spark;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the tasks do, and the kernel's figure for it: the clock of each thread, read by ThreadMXBean around its part.
 */
final class TaskWork {
    static final AtomicLong KERNEL_NANOS = new AtomicLong();

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int SIEVE = 100_000;

    private TaskWork() {}

    /** Computes on the task's thread, and then on others, which the task waits for. */
    static int run(int ownSieves, int threads, int sievesPerThread) throws InterruptedException, ExecutionException {
        int primes = count(ownSieves);
        if (threads == 0) return primes;
        ExecutorService pool = TaskCpu.wrap(Executors.newFixedThreadPool(threads));
        try {
            List<Future<Integer>> parts = new ArrayList<>();
            for (int i = 0; i < threads; i++) parts.add(pool.submit(() -> count(sievesPerThread)));
            for (Future<Integer> part : parts) primes += part.get();
        } finally {
            pool.shutdown();
        }
        return primes;
    }

    private static int count(int sieves) {
        long start = THREADS.getCurrentThreadCpuTime();
        int primes = 0;
        for (int i = 0; i < sieves; i++) primes += primes();
        KERNEL_NANOS.addAndGet(THREADS.getCurrentThreadCpuTime() - start);
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
