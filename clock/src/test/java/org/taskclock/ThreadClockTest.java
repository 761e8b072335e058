// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("contract")
class ThreadClockTest {
    private static final boolean NATIVE = TaskClock.status().backend() != Backend.MXBEAN;
    private static final long TICK = Math.max(TaskClock.status().tickNanos(), 0);
    /** Enough to hit many short-lived differences between a thread's clock and the kernel's. */
    private static final int READINGS = 200_000;
    /** The unit of CPU times in /proc. */
    private static final long PROC_UNIT_NANOS = 10_000_000;

    /** A thread that publishes its tid and stays parked until {@link #end} is called. */
    private static final class ParkedThread extends Thread {
        final CountDownLatch ready = new CountDownLatch(1);
        final AtomicBoolean done = new AtomicBoolean();
        volatile int tid;

        @Override
        public void run() {
            tid = SystemCalls.gettid();
            ready.countDown();
            while (!done.get()) LockSupport.park(this);
        }

        void begin() throws InterruptedException {
            start();
            ready.await();
        }

        void end() throws InterruptedException {
            done.set(true);
            LockSupport.unpark(this);
            join();
        }
    }

    @Test
    void shouldFindTheTidOfThreadsThatNeverUsedTheClock() throws InterruptedException {
        List<ParkedThread> parkedThreads = new ArrayList<>();
        for (int i = 0; i < 300; i++) parkedThreads.add(new ParkedThread());
        for (ParkedThread parked : parkedThreads) parked.begin();
        for (ParkedThread parked : parkedThreads) {
            assertThat(ThreadClock.of(parked).tid()).isEqualTo(NATIVE ? parked.tid : -1);
            // The time may be 0: if the host takes a processor away, the kernel may not have counted anything for a
            // thread that has run so briefly.
            int sched = ~parked.tid << 3 | 4 | 2;
            long before = SystemCalls.clockNanos(sched);
            assertThat(ThreadClock.of(parked).cpuNanos()).isBetween(before, SystemCalls.clockNanos(sched));
        }
        assertThat(ThreadClock.of(Thread.currentThread()).tid()).isEqualTo(NATIVE ? SystemCalls.gettid() : -1);
        for (ParkedThread parked : parkedThreads) parked.end();
    }

    @Test
    void shouldReadMinusOneBeforeStartAndAfterEnd() throws InterruptedException {
        ParkedThread parked = new ParkedThread();
        ThreadClock clock = ThreadClock.of(parked);
        ThreadClock never = ThreadClock.of(new Thread(() -> {}));
        assertUnknown(clock);
        parked.begin();
        assertThat(clock.cpuNanos()).isPositive();
        assertThat(clock.now().isKnown()).isTrue();
        parked.end();
        assertUnknown(clock);
        assertUnknown(never);
        assertUnknown(ThreadClock.of(parked));
    }

    /** Reads itself all the time. */
    private static final class SelfReader extends Thread {
        volatile long lastCpu = -1;
        private volatile boolean isDone;

        @Override
        public void run() {
            while (!isDone) lastCpu = TaskClock.cpuNanos();
        }

        SelfReader begin() {
            start();
            while (lastCpu < 0) Thread.onSpinWait();
            return this;
        }

        void end() throws InterruptedException {
            isDone = true;
            join();
        }
    }

    @Test
    void shouldNeverReadLessThanTheThreadReadOfItself() throws InterruptedException {
        SelfReader thread = new SelfReader().begin();
        try {
            ThreadClock clock = ThreadClock.of(thread);
            for (int i = 0; i < READINGS; i++) {
                long own = thread.lastCpu;
                assertThat(clock.cpuNanos()).isGreaterThanOrEqualTo(own);
            }
            for (int i = 0; i < READINGS; i++) {
                long own = thread.lastCpu;
                assertThat(clock.now().cpuNanos()).isGreaterThanOrEqualTo(own);
            }
        } finally {
            thread.end();
        }
    }

    @Test
    void shouldNeverListLessThanTheThreadReadOfItself() throws InterruptedException {
        assumeTrue(NATIVE, "snapshots need the native library");
        SelfReader thread = new SelfReader().begin();
        try {
            int tid = ThreadClock.of(thread).tid();
            ThreadSnapshot snapshot = new ThreadSnapshot();
            int[] tids = new int[1_000];
            long[] cpus = new long[1_000];
            for (int i = 0; i < READINGS / 20; i++) {
                long own = thread.lastCpu;
                int count = Math.min(snapshot.read(tids, cpus, new long[0], new long[0]), tids.length);
                int row = IntStream.range(0, count)
                        .filter(k -> tids[k] == tid)
                        .findFirst()
                        .orElseThrow();
                assertThat(cpus[row]).isGreaterThanOrEqualTo(own);
            }
        } finally {
            thread.end();
        }
    }

    private static void assertUnknown(ThreadClock clock) {
        assertThat(clock.tid()).isEqualTo(-1);
        assertThat(clock.cpuNanos()).isEqualTo(-1);
        assertThat(clock.userNanos()).isEqualTo(-1);
        assertThat(clock.systemNanos()).isEqualTo(-1);
        assertThat(clock.now()).isEqualTo(CpuTime.UNKNOWN);
    }

    @Test
    void shouldAgreeWithTheThreadsOwnClock() throws InterruptedException {
        CpuLoad.runOnThreads(1, () -> {
            ThreadClock clock = ThreadClock.of(Thread.currentThread());
            for (int i = 0; i < 1_000; i++) {
                long before = SystemCalls.threadCpuNanos();
                long cpu = clock.cpuNanos();
                CpuTime now = clock.now();
                assertThat(cpu).isBetween(before, now.cpuNanos());
                assertThat(now.cpuNanos()).isLessThanOrEqualTo(SystemCalls.threadCpuNanos());
                CpuLoad.burnUser(1_000);
            }
        });
    }

    @Test
    void shouldSplitLikeProcAndNeverDecrease() throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        int[] tid = new int[1];
        CountDownLatch started = new CountDownLatch(1);
        Thread worker = new Thread(() -> {
            tid[0] = SystemCalls.gettid();
            started.countDown();
            while (!done.get()) {
                CpuLoad.burnUser(200_000);
                CpuLoad.burnSystem(10);
            }
        });
        worker.start();
        started.await();
        ThreadClock clock = ThreadClock.of(worker);
        CpuTime last = clock.now();
        while (last.cpuNanos() < 400_000_000) {
            ProcStat before = ProcStat.ofThread(tid[0]);
            CpuTime now = clock.now();
            ProcStat after = ProcStat.ofThread(tid[0]);
            assertThat(now.userNanos() + now.systemNanos()).isEqualTo(now.cpuNanos());
            assertThat(now.cpuNanos()).isGreaterThanOrEqualTo(last.cpuNanos());
            assertThat(now.userNanos()).isGreaterThanOrEqualTo(last.userNanos());
            assertThat(now.systemNanos()).isGreaterThanOrEqualTo(last.systemNanos());
            if (NATIVE) {
                // Both split the CPU time by sampled ticks, but never decrease either part, so each depends on when it
                // was read before. They differ by some ticks, and by more on a busy machine. /proc also truncates.
                long tolerance = PROC_UNIT_NANOS + 8 * TICK + now.cpuNanos() / 20;
                assertThat(now.userNanos()).isBetween(before.userNanos() - tolerance, after.userNanos() + tolerance);
                assertThat(now.systemNanos())
                        .isBetween(before.systemNanos() - tolerance, after.systemNanos() + tolerance);
            }
            last = now;
        }
        assertThat(last.userNanos()).isPositive();
        assertThat(last.systemNanos()).isPositive();
        done.set(true);
        worker.join();
    }

    /**
     * Looking up a thread while it starts or ends must return its time or -1. It must not crash or return another
     * thread's time.
     */
    @Test
    void shouldSurviveThreadsThatEndDuringTheLookup() throws InterruptedException {
        long maxThreadNanos = 1_000_000_000;
        for (int round = 0; round < 300; round++) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 10; i++) threads.add(new Thread(() -> CpuLoad.burnUser(100)));
            for (Thread thread : threads) thread.start();
            for (Thread thread : threads) {
                long cpu = ThreadClock.of(thread).cpuNanos();
                assertThat(cpu).isBetween(-1L, maxThreadNanos);
            }
            for (Thread thread : threads) thread.join();
        }
    }

    @Test
    void shouldReadNativeThreads() {
        // The first thread of the java launcher, which waits for the main thread.
        int pid = (int) ProcessHandle.current().pid();
        ThreadClock clock = ThreadClock.ofTid(pid);
        if (NATIVE) {
            assertThat(clock.tid()).isEqualTo(pid);
            assertThat(clock.cpuNanos()).isPositive();
            assertThat(clock.now().cpuNanos()).isPositive();
        } else {
            assertUnknown(clock);
        }
    }

    @Test
    void shouldReturnUnknownIfThereIsNoSuchThread() {
        ThreadClock clock = ThreadClock.ofTid(4_194_305);
        assertThat(clock.cpuNanos()).isEqualTo(-1);
        assertThat(clock.now()).isEqualTo(CpuTime.UNKNOWN);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ThreadClock.ofTid(0))
                .withMessageContaining("0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ThreadClock.ofTid(-7))
                .withMessageContaining("-7");
    }
}
