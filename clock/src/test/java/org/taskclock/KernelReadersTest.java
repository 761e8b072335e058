// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that the result of each reader is between two readings of the same clock through the C library. The kernel's
 * clocks never decrease, so there is no tolerance.
 */
class KernelReadersTest {
    private static final int ROUNDS = 1_000;
    private static final int WORK_NANOS = 100_000;
    /** The unit of CPU times in /proc. */
    private static final long PROC_UNIT_NANOS = 10_000_000;

    private static final int NO_SUCH_THREAD = 4_194_305;

    private static final int SYSTEM_CALLS = 1_000;
    /** Enough for one undisturbed try even on a busy machine. */
    private static final int TRIES = 200;

    @Test
    void shouldReturnTheCallingThreadsId() throws InterruptedException {
        CpuLoad.runOnThreads(2, () -> assertThat(KernelReaders.tid()).isEqualTo(SystemCalls.gettid()));
    }

    @Test
    void shouldReadUserTimeByConstantId() throws InterruptedException {
        CpuLoad.runOnThreads(1, () -> {
            long first = KernelReaders.userNanosByConstantId();
            for (int i = 0; i < ROUNDS; i++) {
                work();
                long before = SystemCalls.clockNanos(0xFFFFFFFD);
                long user = KernelReaders.userNanosByConstantId();
                assertThat(user).isBetween(before, SystemCalls.clockNanos(0xFFFFFFFD));
            }
            assertThat(KernelReaders.userNanosByConstantId()).isGreaterThan(first);
        });
    }

    @Test
    void shouldReadUserTimeByThreadId() throws InterruptedException {
        whileAnotherThreadWorks(tid -> {
            int id = ~tid << 3 | 4 | 1; // like pthread_getcpuclockid, but for user time
            long first = KernelReaders.userNanosByOwnId(tid);
            for (int i = 0; i < ROUNDS; i++) {
                long before = SystemCalls.clockNanos(id);
                long user = KernelReaders.userNanosByOwnId(tid);
                assertThat(user).isBetween(before, SystemCalls.clockNanos(id));
                work();
            }
            assertThat(KernelReaders.userNanosByOwnId(tid)).isGreaterThan(first);
        });
        assertThat(KernelReaders.userNanosByOwnId(NO_SUCH_THREAD)).isEqualTo(-1);
    }

    /** /proc reports the same user time as getrusage, truncated to 10 ms. */
    @Test
    void shouldReadUserTimeFromProc() throws InterruptedException {
        CpuLoad.runOnThreads(1, () -> {
            int tid = SystemCalls.gettid();
            long[] before = new long[2];
            long[] after = new long[2];
            long user = 0;
            for (int i = 0; i < ROUNDS || user == 0; i++) {
                work();
                SystemCalls.rusage(before);
                user = KernelReaders.userNanosByText(tid);
                SystemCalls.rusage(after);
                assertThat(user % PROC_UNIT_NANOS).isZero();
                assertThat(user).isBetween(before[0] - before[0] % PROC_UNIT_NANOS, after[0]);
                assertThat(i).as("rounds without user time").isLessThan(100 * ROUNDS);
            }
        });
        assertThat(KernelReaders.userNanosByText(NO_SUCH_THREAD)).isEqualTo(-1);
    }

    @Test
    void shouldReadUserAndSystemTimeWithRusage() throws InterruptedException {
        CpuLoad.runOnThreads(1, () -> {
            long[] before = new long[2];
            long[] read = new long[2];
            long[] after = new long[2];
            for (int i = 0; i < ROUNDS; i++) {
                work();
                if (i % 4 == 0) SystemCalls.touchPages(100);
                SystemCalls.rusage(before);
                assertThat(KernelReaders.rusage(read)).isTrue();
                SystemCalls.rusage(after);
                assertThat(read[0]).isBetween(before[0], after[0]);
                assertThat(read[1]).isBetween(before[1], after[1]);
            }
            assertThat(read).doesNotContain(0);
        });
    }

    /**
     * The result must be within the time measured here. The best result must match that of calls through the C library.
     */
    @Test
    void shouldTimeSystemCalls() {
        ClockId own = ClockId.thread(0, ClockId.Kind.SCHED);
        long min = Long.MAX_VALUE;
        long minWithLibc = Long.MAX_VALUE;
        for (int i = 0; i < TRIES; i++) {
            long start = System.nanoTime();
            long nanos = KernelReaders.timeSystemCalls(own, SYSTEM_CALLS);
            assertThat(nanos).isBetween(1L, System.nanoTime() - start);
            min = Math.min(min, nanos);
            minWithLibc = Math.min(minWithLibc, SystemCalls.timeClockReads(own.encode(), SYSTEM_CALLS));
        }
        assertThat(min).isBetween(minWithLibc * 2 / 3, minWithLibc * 3 / 2);
        ClockId missing = ClockId.thread(NO_SUCH_THREAD, ClockId.Kind.SCHED);
        assertThat(KernelReaders.timeSystemCalls(missing, SYSTEM_CALLS)).isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource(
            value = ClockId.Kind.class,
            names = {"PROF", "VIRT", "SCHED"})
    void shouldReadAClockById(ClockId.Kind kind) throws InterruptedException {
        int bits = kind == ClockId.Kind.PROF ? 0 : kind == ClockId.Kind.VIRT ? 1 : 2;
        whileAnotherThreadWorks(tid -> {
            for (int i = 0; i < ROUNDS; i++) {
                assertReadsTheSameClock(~0 << 3 | 4 | bits, ClockId.thread(0, kind));
                assertReadsTheSameClock(~tid << 3 | 4 | bits, ClockId.thread(tid, kind));
                assertReadsTheSameClock(~0 << 3 | bits, ClockId.process(0, kind));
                work();
            }
        });
    }

    /** Sampled user time is constant within a tick. Precise user time changes with nearly every read. */
    @Test
    void shouldReportHowTheKernelAccountsUserTime() throws InterruptedException {
        int ticks = 50;
        CpuLoad.runOnThreads(1, () -> {
            long reads = 0;
            long changes = 0;
            long last = 0;
            long end = SystemCalls.threadCpuNanos() + ticks * TaskClock.status().tickNanos();
            while (SystemCalls.threadCpuNanos() < end) {
                long user = SystemCalls.clockNanos(0xFFFFFFFD);
                reads++;
                if (user != last) changes++;
                last = user;
            }
            assertThat(reads).isGreaterThan(100L * ticks);
            boolean isSampled = changes < reads / 10;
            assertThat(TaskClock.status().accounting())
                    .isEqualTo(isSampled ? ClockStatus.Accounting.TICK : ClockStatus.Accounting.PRECISE);
            if (isSampled) assertThat(changes).isBetween(1L, 2L * ticks);
        });
    }

    private static void assertReadsTheSameClock(int id, ClockId clock) {
        long before = SystemCalls.clockNanos(id);
        long nanos = clock.nanos();
        assertThat(nanos).as(clock.toString()).isBetween(before, SystemCalls.clockNanos(id));
    }

    interface Reader {
        void read(int tid);
    }

    private static void whileAnotherThreadWorks(Reader reader) throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger tid = new AtomicInteger();
        CountDownLatch started = new CountDownLatch(1);
        Thread worker = new Thread(() -> {
            tid.set(SystemCalls.gettid());
            started.countDown();
            while (!done.get()) CpuLoad.burnUser(1_000);
        });
        worker.start();
        started.await();
        try {
            reader.read(tid.get());
        } finally {
            done.set(true);
            worker.join();
        }
    }

    private static void work() {
        long end = SystemCalls.threadCpuNanos() + WORK_NANOS;
        while (SystemCalls.threadCpuNanos() < end) CpuLoad.burnUser(1_000);
    }
}
