// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("contract")
class ThreadClockTest {
    private static final boolean NATIVE = TaskClock.status().rung() != Rung.MXBEAN;
    private static final long TICK = Math.max(TaskClock.status().tickNanos(), 0);
    /** The unit of /proc. */
    private static final long TEXT_UNIT = 10_000_000;

    /** A thread that says who it is, works until told, and stays parked until it is let go. */
    private static final class Subject extends Thread {
        final CountDownLatch ready = new CountDownLatch(1);
        final AtomicBoolean done = new AtomicBoolean();
        volatile int tid;

        @Override
        public void run() {
            tid = Os.gettid();
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
    void shouldFindTheKernelIdOfThreadsThatNeverCalledUs() throws InterruptedException {
        List<Subject> subjects = new ArrayList<>();
        for (int i = 0; i < 300; i++) subjects.add(new Subject());
        for (Subject subject : subjects) subject.begin();
        for (Subject subject : subjects) {
            assertThat(ThreadClock.of(subject).tid()).isEqualTo(NATIVE ? subject.tid : -1);
            // Not just positive: a host that takes a processor away can keep the kernel from counting a thread this
            // short.
            int sched = ~subject.tid << 3 | 4 | 2;
            long before = Os.clockNanos(sched);
            assertThat(ThreadClock.of(subject).cpuNanos()).isBetween(before, Os.clockNanos(sched));
        }
        assertThat(ThreadClock.of(Thread.currentThread()).tid()).isEqualTo(NATIVE ? Os.gettid() : -1);
        for (Subject subject : subjects) subject.end();
    }

    @Test
    void shouldReadMinusOneBeforeStartAndAfterEnd() throws InterruptedException {
        Subject subject = new Subject();
        ThreadClock clock = ThreadClock.of(subject);
        ThreadClock never = ThreadClock.of(new Thread(() -> {}));
        assertUnknown(clock);
        subject.begin();
        assertThat(clock.cpuNanos()).isPositive();
        assertThat(clock.now().isKnown()).isTrue();
        subject.end();
        assertUnknown(clock);
        assertUnknown(never);
        assertUnknown(ThreadClock.of(subject));
    }

    private static void assertUnknown(ThreadClock clock) {
        assertThat(clock.tid()).isEqualTo(-1);
        assertThat(clock.cpuNanos()).isEqualTo(-1);
        assertThat(clock.userNanos()).isEqualTo(-1);
        assertThat(clock.systemNanos()).isEqualTo(-1);
        assertThat(clock.now()).isEqualTo(CpuTime.UNKNOWN);
    }

    @Test
    void shouldAgreeWithTheThreadItself() throws InterruptedException {
        Work.onThreads(1, () -> {
            ThreadClock clock = ThreadClock.of(Thread.currentThread());
            for (int i = 0; i < 1_000; i++) {
                long before = Os.threadCpuNanos();
                long cpu = clock.cpuNanos();
                CpuTime now = clock.now();
                assertThat(cpu).isBetween(before, now.cpuNanos());
                assertThat(now.cpuNanos()).isLessThanOrEqualTo(Os.threadCpuNanos());
                Work.user(1_000);
            }
        });
    }

    @Test
    void shouldSplitAsProcDoesAndNeverGoBackwards() throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        int[] tid = new int[1];
        CountDownLatch started = new CountDownLatch(1);
        Thread worker = new Thread(() -> {
            tid[0] = Os.gettid();
            started.countDown();
            while (!done.get()) {
                Work.user(200_000);
                Work.system(10);
            }
        });
        worker.start();
        started.await();
        ThreadClock clock = ThreadClock.of(worker);
        CpuTime last = clock.now();
        while (last.cpuNanos() < 700_000_000) {
            ProcStat before = ProcStat.ofThread(tid[0]);
            CpuTime now = clock.now();
            ProcStat after = ProcStat.ofThread(tid[0]);
            assertThat(now.userNanos() + now.systemNanos()).isEqualTo(now.cpuNanos());
            assertThat(now.cpuNanos()).isGreaterThanOrEqualTo(last.cpuNanos());
            assertThat(now.userNanos()).isGreaterThanOrEqualTo(last.userNanos());
            assertThat(now.systemNanos()).isGreaterThanOrEqualTo(last.systemNanos());
            if (NATIVE) {
                // One tick each of the kernel's reading and ours, and what the text cuts off; ticks may come late.
                long tolerance = TEXT_UNIT + 4 * TICK;
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

    /** Looking threads up while they start and end finds their time or nothing, and never another's, nor a crash. */
    @Test
    void shouldSurviveThreadsThatEndWhileTheyAreLookedUp() throws InterruptedException {
        long mostThatSuchAThreadUses = 1_000_000_000;
        for (int round = 0; round < 300; round++) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 10; i++) threads.add(new Thread(() -> Work.user(100)));
            for (Thread thread : threads) thread.start();
            for (Thread thread : threads) {
                long cpu = ThreadClock.of(thread).cpuNanos();
                assertThat(cpu).isBetween(-1L, mostThatSuchAThreadUses);
            }
            for (Thread thread : threads) thread.join();
        }
    }

    @Test
    void shouldReadThreadsThatAreNotJavas() {
        // The launcher's first thread: it waits for the one that runs main.
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
    void shouldKnowThatThereIsNoSuchThread() {
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
