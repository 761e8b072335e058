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
 * Main class of child JVMs: runs the queries of an engine on one pool, each with its own account. The accounts must add
 * up to the CPU time of the process minus that of the JVM's own threads. This is a separate process so that nothing
 * else runs in it.
 */
final class ConcurrentQueries {
    private static final int THREADS = 8;

    private static final int QUERIES = 20;

    private static final int TASKS = 20;

    private static final double TOLERANCE = 0.01;

    private final List<Thread> threads = new ArrayList<>(List.of(Thread.currentThread()));
    private final ExecutorService pool = Executors.newFixedThreadPool(THREADS, this::newThread);
    private final SplittableRandom random = new SplittableRandom(7);

    public static void main(String[] arguments) throws Exception {
        ConcurrentQueries engine = new ConcurrentQueries();
        // Warm-up: selects the backend, loads classes, starts threads, and compiles most of the code.
        TaskClock.status();
        engine.run(QUERIES / 2);
        double share = engine.run(QUERIES);
        engine.pool.shutdown();
        System.out.println(share + " of the process's CPU time");
        if (Math.abs(share - 1) > TOLERANCE) throw new AssertionError("the accounts add up to " + share);
    }

    private Thread newThread(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        threads.add(thread);
        return thread;
    }

    /** Returns the CPU time of the JVM's own threads: all except those of the pool and the main thread. */
    private long jvmNanos() {
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
        while (TaskClock.cpuNanos() < end) CpuLoad.burnUser(100_000);
    }

    /** Returns the accounts' share of the CPU time of the process, not counting the JVM's own threads. */
    private double run(int queries) throws Exception {
        ProcessClock process = ProcessClock.current();
        List<CpuAccount> accounts = new ArrayList<>();
        CountDownLatch remaining = new CountDownLatch(queries * TASKS);
        long jvmStart = jvmNanos();
        long start = process.cpuNanos();
        for (int i = 0; i < queries; i++) {
            CpuAccount account = CpuAccount.create();
            accounts.add(account);
            for (int j = 0; j < TASKS; j++) {
                long nanos = 1_000_000 + random.nextLong(13_000_000);
                Runnable task = account.wrap(() -> work(nanos));
                pool.execute(() -> {
                    task.run();
                    remaining.countDown();
                });
            }
        }
        remaining.await();
        long all = process.cpuNanos() - start;
        long jvm = jvmNanos() - jvmStart;
        System.out.println("share of the JVM itself: " + (double) jvm / all);
        long sum = 0;
        for (CpuAccount account : accounts) {
            CpuUsage usage = account.done();
            if (!usage.isComplete()) throw new AssertionError(usage);
            sum += usage.cpuNanos();
        }
        return (double) sum / (all - jvm);
    }
}
