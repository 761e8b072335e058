// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Main class of child JVMs: an engine's queries on one pool, an account each, which add up to what the process used. In a
 * process of its own, so that there is nothing else but the JVM itself: what its compiler used is known, and taken off.
 */
final class ConcurrentQueries {
    private static final int THREADS = 8;

    private static final int QUERIES = 20;

    private static final int TASKS = 20;

    private static final double TOLERANCE = 0.01;

    private final List<Thread> threads = new ArrayList<>(List.of(Thread.currentThread()));
    private final ExecutorService pool = Executors.newFixedThreadPool(THREADS, this::thread);
    private final SplittableRandom random = new SplittableRandom(7);

    public static void main(String[] arguments) throws Exception {
        ConcurrentQueries engine = new ConcurrentQueries();
        // What is loaded and started once, and most of what is compiled.
        engine.run(QUERIES);
        double share = engine.run(QUERIES);
        engine.pool.shutdown();
        System.out.println(share + " of the process's CPU time");
        if (Math.abs(share - 1) > TOLERANCE) throw new AssertionError("the accounts add up to " + share);
    }

    private Thread thread(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        threads.add(thread);
        return thread;
    }

    /** What the JVM's own threads have used: those that are neither the pool's nor this one. */
    private long own() {
        int[] tids = new int[1000];
        long[] cpu = new long[1000];
        int count = new ThreadSnapshot().read(tids, cpu, new long[1000], new long[1000]);
        long sum = 0;
        for (int i = 0; i < count; i++) sum += cpu[i];
        for (Thread thread : threads) sum -= Math.max(0, ThreadClock.of(thread).cpuNanos());
        return sum;
    }

    private static void work(long nanos) {
        long end = TaskClock.cpuNanos() + nanos;
        while (TaskClock.cpuNanos() < end) Work.user(100_000);
    }

    /** The queries' share of the process's CPU time, while there was nothing but them. */
    private double run(int queries) throws Exception {
        ProcessClock process = ProcessClock.current();
        List<CpuAccount> accounts = new ArrayList<>();
        CountDownLatch running = new CountDownLatch(queries * TASKS);
        long ownStart = own();
        long start = process.cpuNanos();
        for (int i = 0; i < queries; i++) {
            CpuAccount account = new CpuAccount();
            accounts.add(account);
            for (int j = 0; j < TASKS; j++) {
                long nanos = 1_000_000 + random.nextLong(13_000_000);
                Runnable task = account.wrap(() -> work(nanos));
                pool.execute(() -> {
                    task.run();
                    running.countDown();
                });
            }
        }
        running.await();
        long all = process.cpuNanos() - start;
        long own = own() - ownStart;
        System.out.println("the JVM itself: " + (double) own / all);
        long sum = 0;
        for (CpuAccount account : accounts) {
            CpuUsage usage = account.done();
            if (!usage.isComplete()) throw new AssertionError(usage);
            sum += usage.cpuNanos();
        }
        return (double) sum / (all - own);
    }
}
