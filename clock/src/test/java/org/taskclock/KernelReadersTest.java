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
 * Each reader lies between two readings of the same clock by the C library, taken around it. The kernel's clocks never
 * go back, so there is no tolerance.
 */
class KernelReadersTest {
    private static final int ROUNDS = 1_000;
    private static final int WORK_NANOS = 100_000;
    /** What the text of /proc counts in. */
    private static final long TEXT_UNIT = 10_000_000;

    private static final int NO_SUCH_THREAD = 4_194_305;

    private static final int SYSTEM_CALLS = 1_000;
    /** Enough for one undisturbed call, however busy the machine is. */
    private static final int TRIES = 200;

    @Test
    void shouldTellTheCallingThreadsId() throws InterruptedException {
        Work.onThreads(2, () -> assertThat(KernelReaders.tid()).isEqualTo(Os.gettid()));
    }

    @Test
    void shouldReadUserTimeByTheConstantId() throws InterruptedException {
        Work.onThreads(1, () -> {
            long first = KernelReaders.userNanosByConstantId();
            for (int i = 0; i < ROUNDS; i++) {
                work();
                long before = Os.clockNanos(0xFFFFFFFD);
                long user = KernelReaders.userNanosByConstantId();
                assertThat(user).isBetween(before, Os.clockNanos(0xFFFFFFFD));
            }
            assertThat(KernelReaders.userNanosByConstantId()).isGreaterThan(first);
        });
    }

    @Test
    void shouldReadUserTimeByAnId() throws InterruptedException {
        whileAnotherWorks(tid -> {
            int id = ~tid << 3 | 4 | 1; // as pthread_getcpuclockid builds it, but for user time
            long first = KernelReaders.userNanosByOwnId(tid);
            for (int i = 0; i < ROUNDS; i++) {
                long before = Os.clockNanos(id);
                long user = KernelReaders.userNanosByOwnId(tid);
                assertThat(user).isBetween(before, Os.clockNanos(id));
                work();
            }
            assertThat(KernelReaders.userNanosByOwnId(tid)).isGreaterThan(first);
        });
        assertThat(KernelReaders.userNanosByOwnId(NO_SUCH_THREAD)).isEqualTo(-1);
    }

    /** The text has getrusage's user time, truncated to 10 ms. */
    @Test
    void shouldReadUserTimeByText() throws InterruptedException {
        Work.onThreads(1, () -> {
            int tid = Os.gettid();
            long[] before = new long[2];
            long[] after = new long[2];
            for (int i = 0; i < ROUNDS; i++) {
                work();
                Os.rusage(before);
                long user = KernelReaders.userNanosByText(tid);
                Os.rusage(after);
                assertThat(user % TEXT_UNIT).isZero();
                assertThat(user).isBetween(before[0] - before[0] % TEXT_UNIT, after[0]);
            }
            assertThat(KernelReaders.userNanosByText(tid)).isPositive();
        });
        assertThat(KernelReaders.userNanosByText(NO_SUCH_THREAD)).isEqualTo(-1);
    }

    @Test
    void shouldReadBothPartsByRusage() throws InterruptedException {
        Work.onThreads(1, () -> {
            long[] before = new long[2];
            long[] read = new long[2];
            long[] after = new long[2];
            for (int i = 0; i < ROUNDS; i++) {
                work();
                if (i % 4 == 0) Os.touchPages(100);
                Os.rusage(before);
                assertThat(KernelReaders.rusage(read)).isTrue();
                Os.rusage(after);
                assertThat(read[0]).isBetween(before[0], after[0]);
                assertThat(read[1]).isBetween(before[1], after[1]);
            }
            assertThat(read).doesNotContain(0);
        });
    }

    /** The time is part of the time measured here, and the best of many is that of as many calls by the C library. */
    @Test
    void shouldTimeSystemCalls() {
        ClockId own = ClockId.thread(0, ClockId.Kind.SCHED);
        long least = Long.MAX_VALUE;
        long leastByLibc = Long.MAX_VALUE;
        for (int i = 0; i < TRIES; i++) {
            long start = System.nanoTime();
            long nanos = KernelReaders.timeSystemCalls(own, SYSTEM_CALLS);
            assertThat(nanos).isBetween(1L, System.nanoTime() - start);
            least = Math.min(least, nanos);
            leastByLibc = Math.min(leastByLibc, Os.timeClock(own.encode(), SYSTEM_CALLS));
        }
        assertThat(least).isBetween(leastByLibc * 2 / 3, leastByLibc * 3 / 2);
        ClockId none = ClockId.thread(NO_SUCH_THREAD, ClockId.Kind.SCHED);
        assertThat(KernelReaders.timeSystemCalls(none, SYSTEM_CALLS)).isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource(
            value = ClockId.Kind.class,
            names = {"PROF", "VIRT", "SCHED"})
    void shouldReadAClockByItsId(ClockId.Kind kind) throws InterruptedException {
        int bits = kind == ClockId.Kind.PROF ? 0 : kind == ClockId.Kind.VIRT ? 1 : 2;
        whileAnotherWorks(tid -> {
            for (int i = 0; i < ROUNDS; i++) {
                shouldReadBetween(~0 << 3 | 4 | bits, ClockId.thread(0, kind));
                shouldReadBetween(~tid << 3 | 4 | bits, ClockId.thread(tid, kind));
                shouldReadBetween(~0 << 3 | bits, ClockId.process(0, kind));
                work();
            }
        });
    }

    /** Sampled user time stands still for a whole tick; measured user time moves at nearly every look. */
    @Test
    void shouldTellHowTheKernelCountsUserTime() throws InterruptedException {
        int ticks = 50;
        Work.onThreads(1, () -> {
            long looks = 0;
            long steps = 0;
            long last = 0;
            long end = Os.threadCpuNanos() + ticks * TaskClock.status().tickNanos();
            while (Os.threadCpuNanos() < end) {
                long user = Os.clockNanos(0xFFFFFFFD);
                looks++;
                if (user != last) steps++;
                last = user;
            }
            assertThat(looks).isGreaterThan(100L * ticks);
            boolean isSampled = steps < looks / 10;
            assertThat(TaskClock.status().accounting())
                    .isEqualTo(isSampled ? ClockStatus.Accounting.TICK : ClockStatus.Accounting.PRECISE);
            if (isSampled) assertThat(steps).isBetween(1L, 2L * ticks);
        });
    }

    private static void shouldReadBetween(int id, ClockId clock) {
        long before = Os.clockNanos(id);
        long nanos = clock.nanos();
        assertThat(nanos).as(clock.toString()).isBetween(before, Os.clockNanos(id));
    }

    interface Reader {
        void read(int tid);
    }

    private static void whileAnotherWorks(Reader reader) throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger tid = new AtomicInteger();
        CountDownLatch started = new CountDownLatch(1);
        Thread worker = new Thread(() -> {
            tid.set(Os.gettid());
            started.countDown();
            while (!done.get()) Work.user(1_000);
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
        long end = Os.threadCpuNanos() + WORK_NANOS;
        while (Os.threadCpuNanos() < end) Work.user(1_000);
    }
}
