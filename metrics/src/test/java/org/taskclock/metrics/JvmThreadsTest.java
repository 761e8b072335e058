// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.taskclock.CpuTime;
import org.taskclock.ThreadClock;
import org.taskclock.internal.JdkVersions;

/** Readings of the threads of this JVM. {@link Readings} checks all of them. */
class JvmThreadsTest {
    /** Each thread can be read one tick late, and its split is known to a tick. */
    private static final long TICKS = 20 * Load.MILLIS;

    private final Readings readings = new Readings();

    @Test
    void shouldAddUpTheThreadsOfAPool() {
        List<Load> pool = new ArrayList<>();
        for (int i = 0; i < 5; i++) pool.add(new Load("adder-" + i + "-x", () -> Load.burn(20)));
        readings.take();
        long before = readings.java("adder-#-x").cpuNanos();
        pool.forEach(Load::run);
        PoolUsage used = readings.take().java("adder-#-x");
        assertThat(used.threads()).isEqualTo(5);
        assertThat(used.cpuNanos() - before).isBetween(100 * Load.MILLIS, 110 * Load.MILLIS);
        pool.forEach(Load::close);
        // The kernel's thread ends a moment after the Java thread.
        while (readings.take().java("adder-#-x").threads() > 0) Thread.onSpinWait();
        assertThat(readings.java("adder-#-x").cpuNanos()).isGreaterThanOrEqualTo(used.cpuNanos());
    }

    @Test
    void shouldSplitUserAndSystemTimeAsTheClockDoes() {
        try (Load user = new Load("in user mode", () -> Load.burn(150));
                Load system = new Load("in the kernel", () -> Load.callKernel(150))) {
            readings.take();
            user.run();
            system.run();
            readings.take();
            for (Load load : List.of(user, system)) {
                CpuTime time = ThreadClock.of(load.thread).now();
                PoolUsage pool = readings.java(load.thread.getName());
                assertThat(pool.cpuNanos()).isCloseTo(time.cpuNanos(), within(TICKS));
                assertThat(pool.userNanos()).isCloseTo(time.userNanos(), within(TICKS));
            }
            assertThat(readings.java("in user mode").userNanos()).isGreaterThan(100 * Load.MILLIS);
            assertThat(readings.java("in the kernel").systemNanos()).isGreaterThan(100 * Load.MILLIS);
        }
    }

    @Test
    void shouldAccountForThreadsThatNoReadingSaw() throws InterruptedException {
        readings.take();
        long before = readings.pool(PoolKey.ENDED.pool(), ThreadKind.NATIVE).cpuNanos();
        Thread thread = new Thread(() -> Load.burn(200), "never seen");
        thread.start();
        thread.join();
        readings.take();
        assertThat(readings.java("never seen").cpuNanos()).isZero();
        assertThat(readings.pool(PoolKey.ENDED.pool(), ThreadKind.NATIVE).cpuNanos() - before)
                .isBetween(190 * Load.MILLIS, 300 * Load.MILLIS);
    }

    @Test
    void shouldNotTakeShortLivedThreadsForNativeOnes() throws InterruptedException {
        readings.take();
        long end = System.nanoTime() + 500 * Load.MILLIS;
        Thread churn = new Thread(
                () -> {
                    while (System.nanoTime() < end) {
                        List<Thread> batch = new ArrayList<>();
                        for (int i = 0; i < 20; i++) batch.add(new Thread(() -> {}, "short-lived-" + i));
                        batch.forEach(Thread::start);
                    }
                },
                "churn");
        churn.start();
        while (churn.isAlive()) readings.take();
        churn.join();
        readings.take();
        assertThat(readings.java("short-lived-#").cpuNanos()).isPositive();
        assertThat(readings.all().keySet())
                .filteredOn(key -> key.kind() == ThreadKind.NATIVE)
                .extracting(PoolKey::pool)
                .noneMatch(pool -> pool.startsWith("short") || pool.startsWith("churn") || pool.startsWith("Thread"));
    }

    /** The kernel still has some of them when the last one has been joined. */
    @Test
    void shouldNotTakeEndingThreadsForNativeOnesInTheFirstReading() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        Semaphore end = new Semaphore(0);
        for (int i = 0; i < 1_000; i++) threads.add(new Thread(end::acquireUninterruptibly, "ending-" + i));
        threads.forEach(Thread::start);
        end.release(threads.size());
        for (Thread thread : threads) thread.join();
        readings.take();
        Thread.sleep(600);
        readings.take();
        assertThat(readings.all().keySet())
                .filteredOn(key -> key.kind() == ThreadKind.NATIVE)
                .extracting(PoolKey::pool)
                .noneMatch(pool -> pool.startsWith("ending"));
    }

    @Test
    void shouldChangeThePoolOfARenamedThread() {
        try (Load load = new Load("old-name-1", () -> Load.burn(30))) {
            load.run();
            readings.take();
            long old = readings.java("old-name-#").cpuNanos();
            load.thread.setName("new-name-1");
            load.run();
            readings.take();
            assertThat(readings.java("new-name-#").cpuNanos()).isBetween(25 * Load.MILLIS, 35 * Load.MILLIS);
            assertThat(readings.java("new-name-#").threads()).isEqualTo(1);
            assertThat(readings.java("old-name-#").threads()).isZero();
            assertThat(readings.java("old-name-#").cpuNanos()).isBetween(old, old + 5 * Load.MILLIS);
        }
    }

    @Test
    void shouldRecognizeAThreadWithTheIdOfAnEndedOne() throws IOException {
        Load first = new Load("first owner", () -> Load.burn(20));
        first.run();
        readings.take();
        int tid = ThreadClock.of(first.thread).tid();
        first.close();
        try (Load second = reuse(tid)) {
            assumeThat(second).isNotNull();
            second.run();
            readings.take();
            assertThat(readings.java("second owner").threads()).isEqualTo(1);
            assertThat(readings.java("second owner").cpuNanos()).isBetween(75 * Load.MILLIS, 110 * Load.MILLIS);
            assertThat(readings.java("first owner").cpuNanos()).isBetween(20 * Load.MILLIS, 30 * Load.MILLIS);
            assertThat(readings.java("first owner").threads()).isZero();
        }
    }

    /** Starts a thread with a given kernel id; null if the kernel does not allow that, or another thread took it. */
    private static Load reuse(int tid) throws IOException {
        for (int i = 0; i < 20; i++) {
            try {
                Files.writeString(Path.of("/proc/sys/kernel/ns_last_pid"), Integer.toString(tid - 1));
            } catch (IOException e) {
                return null;
            }
            Load load = new Load("second owner", () -> Load.burn(100));
            if (ThreadClock.of(load.thread).tid() == tid) return load;
            load.close();
        }
        return null;
    }

    @Test
    void shouldCountWaitsAndSwitches() throws InterruptedException {
        int processors = Runtime.getRuntime().availableProcessors();
        List<Thread> busy = new ArrayList<>();
        for (int i = 0; i < 3 * processors; i++) busy.add(new Thread(() -> Load.burn(100), "competitor-" + i));
        try (Load sleeper = new Load("sleeper", JvmThreadsTest::sleepOften)) {
            readings.take();
            busy.forEach(Thread::start);
            sleeper.run();
            Thread.sleep(100);
            readings.take();
            PoolUsage slept = readings.java("sleeper");
            assertThat(slept.voluntary()).isBetween(90L, 1_000L);
            // 300 ms of work per processor, of which at least 150 ms are done, while two of three threads wait.
            assertThat(readings.java("competitor-#").waitNanos()).isGreaterThan(50L * processors * Load.MILLIS);
            assertThat(readings.java("competitor-#").involuntary()).isPositive();
        }
        for (Thread thread : busy) thread.join();
        readings.take();
    }

    private static void sleepOften() {
        try {
            for (int i = 0; i < 100; i++) Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        Load.burn(2); // so that they are read
    }

    @Test
    void shouldTellTheKindsOfThreads() {
        System.gc();
        readings.take();
        for (ThreadKind kind : List.of(ThreadKind.JAVA, ThreadKind.GC, ThreadKind.JIT, ThreadKind.VM))
            assertThat(readings.cpuNanos(kind)).as("%s", kind).isPositive();
        // The thread that started the JVM waits for the one that runs main.
        assertThat(readings.pool("java", ThreadKind.NATIVE).threads()).isEqualTo(1);
        assertThat(readings.java("main").threads()).isEqualTo(1);
        assertThat(readings.pool("VM Thread", ThreadKind.VM).cpuNanos()).isPositive();
    }

    @Test
    void shouldReadFromAVirtualThreadAndKnowCarriers() throws ReflectiveOperationException, InterruptedException {
        assumeThat(Runtime.version().feature()).isGreaterThanOrEqualTo(JdkVersions.VIRTUAL_THREADS);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread thread = (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) () -> {
                    try {
                        long end = System.nanoTime() + 100 * Load.MILLIS;
                        while (System.nanoTime() < end) Thread.onSpinWait();
                        readings.take();
                        readings.take();
                    } catch (Throwable e) {
                        failure.set(e);
                    }
                });
        thread.join();
        assertThat(failure.get()).isNull();
        assertThat(readings.java("main").threads()).isEqualTo(1);
        PoolUsage carriers = readings.pool("ForkJoinPool-#-worker-#", ThreadKind.CARRIER);
        assertThat(carriers.cpuNanos()).isGreaterThan(5 * Load.MILLIS);
        assertThat(readings.cpuNanos(ThreadKind.VIRTUAL)).isZero();
    }

    @Test
    void shouldLimitThePoolsOfManyNames() throws InterruptedException {
        Readings few = new Readings(30);
        List<Load> loads = new ArrayList<>();
        for (int i = 0; i < 500; i++)
            loads.add(new Load(
                    "unique " + Integer.toString(i, 36).replaceAll("[0-9]", "_") + (char) ('A' + i / 26),
                    () -> Load.burn(1)));
        few.take();
        loads.forEach(Load::run);
        few.take();
        assertThat(few.all()).hasSizeLessThanOrEqualTo(30);
        assertThat(few.java(PoolCounters.OTHER).threads()).isGreaterThan(300);
        loads.forEach(Load::close);
        few.take();
    }
}
