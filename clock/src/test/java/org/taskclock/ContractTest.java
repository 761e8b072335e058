// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What holds for the calling thread's clock on every rung, whatever the thread does between two reads. */
@Tag("contract")
class ContractTest {
    private static final long RUN_NANOS = 700_000_000;

    private static final int SPINNERS = 4;

    /** Of 10,000 readings one may be further off than this. */
    private static final long FAR_OFF_NANOS = 1_000;
    /**
     * In runs as short as these a single event would be more than one reading in 10,000: when the host takes a processor
     * away, all readings until the next base are off, which are a few dozen.
     */
    private static final long ONE_BASE = 50;

    @Test
    void shouldUseTheRungThatIsExpectedHere() {
        assertThat(TaskClock.status().rung()).hasToString(Expected.rung());
    }

    @Test
    void shouldHoldForAThreadThatDoesEverything() throws InterruptedException {
        Work.onThreads(1, () -> new Observer().observe(RUN_NANOS, round -> anything()));
    }

    @Test
    void shouldHoldForMoreSpinnersThanCores() throws InterruptedException {
        Work.onThreads(SPINNERS, () -> new Observer().observe(RUN_NANOS, round -> user()));
    }

    @Test
    void shouldHoldForThreadsThatTheKernelMustMigrate() throws InterruptedException {
        int cpus = Runtime.getRuntime().availableProcessors();
        Work.onThreads(2, () -> new Observer().observe(RUN_NANOS, round -> {
            assertThat(Os.pin((int) (round % cpus))).isTrue();
            user();
        }));
    }

    /** Each is away for some microseconds, while a base is good for more: only the marker tells. */
    @Test
    @SuppressWarnings("ThreadPriorityCheck") // to be switched out is the point
    void shouldHoldForThreadsThatTakeTurnsOnOneProcessor() throws InterruptedException {
        Work.onThreads(2, () -> {
            assertThat(Os.pin(0)).isTrue();
            new Observer().observe(RUN_NANOS, round -> {
                Work.sink = TaskClock.cpuNanos();
                Thread.yield();
            });
        });
    }

    @Test
    void shouldHoldUnderAStormOfSignals() throws InterruptedException {
        Os.handleSignal(Os.SIGUSR2);
        AtomicBoolean done = new AtomicBoolean();
        Work.onThreads(1, () -> {
            int target = Os.gettid();
            Thread storm = new Thread(() -> {
                while (!done.get() && Os.sendSignal(target, Os.SIGUSR2)) LockSupport.parkNanos(20_000);
            });
            storm.start();
            new Observer().observe(RUN_NANOS, round -> anything());
            done.set(true);
        });
    }

    @Test
    void shouldStartNearZeroOnANewThread() throws InterruptedException {
        // What a thread uses before it runs Java: well below this.
        long start = 20_000_000;
        Work.onThreads(1, () -> {
            assertThat(TaskClock.cpuNanos()).isBetween(1L, start);
            CpuTime now = TaskClock.now();
            assertThat(now.userNanos() + now.systemNanos()).isEqualTo(now.cpuNanos());
        });
    }

    @Test
    void shouldReadTheSameThroughEveryMethod() throws InterruptedException {
        Work.onThreads(1, () -> {
            long[] reading = new long[3];
            for (int i = 0; i < 2_000; i++) {
                long cpu = TaskClock.cpuNanos();
                long user = TaskClock.userNanos();
                long system = TaskClock.systemNanos();
                TaskClock.read(reading);
                CpuTime now = TaskClock.now();
                assertThat(reading[0]).isBetween(cpu, now.cpuNanos());
                assertThat(reading[1])
                        .isBetween(user, now.userNanos())
                        .isLessThanOrEqualTo(user + now.cpuNanos() - cpu);
                assertThat(reading[2]).isBetween(system, now.systemNanos());
                assertThat(reading[1] + reading[2]).isEqualTo(reading[0]);
                Work.user(i);
            }
        });
    }

    /** Reads and compares, over and over, on the thread that makes it. */
    private static final class Observer {
        private final Rung rung = TaskClock.status().rung();
        /** Then every reading lies between two of the kernel's; the counter may be off where no marker tells. */
        private final boolean asksKernelAlways = rung == Rung.SYSCALL || rung == Rung.MXBEAN;

        private final boolean comparesSplit = rung != Rung.MXBEAN;
        /**
         * User and system may differ from getrusage's by one tick, and getrusage itself lags the thread by one; twice that,
         * as a machine that is itself a guest gets some of its ticks late.
         */
        private final long splitTolerance = 4 * Math.max(TaskClock.status().tickNanos(), 0);

        private final long[] rusageBefore = new long[2];
        private final long[] rusageAfter = new long[2];
        private CpuTime last = TaskClock.now();

        private long readings;
        private long farOff;

        void observe(long nanos, LongConsumer work) {
            long end = System.nanoTime() + nanos;
            for (long round = 0; System.nanoTime() < end; round++) {
                work.accept(round);
                compareCpu();
                compareParts();
            }
            long allowed = asksKernelAlways ? 0 : readings / 10_000 + ONE_BASE;
            assertThat(farOff).as("of %d readings", readings).isLessThanOrEqualTo(allowed);
        }

        private void compare(long before, long cpu, long after) {
            readings++;
            if (Math.max(before - cpu, cpu - after) > (asksKernelAlways ? 0 : FAR_OFF_NANOS)) farOff++;
        }

        /** The clock's figure lies between two of the kernel's. */
        private void compareCpu() {
            long before = Os.threadCpuNanos();
            long cpu = TaskClock.cpuNanos();
            compare(before, cpu, Os.threadCpuNanos());
        }

        private void compareParts() {
            Os.rusage(rusageBefore);
            long before = Os.threadCpuNanos();
            CpuTime now = TaskClock.now();
            long after = Os.threadCpuNanos();
            Os.rusage(rusageAfter);

            compare(before, now.cpuNanos(), after);
            assertThat(now.userNanos() + now.systemNanos()).isEqualTo(now.cpuNanos());
            assertThat(now.userNanos()).isGreaterThanOrEqualTo(last.userNanos());
            assertThat(now.systemNanos()).isGreaterThanOrEqualTo(last.systemNanos());
            if (comparesSplit) {
                assertThat(now.userNanos())
                        .isBetween(rusageBefore[0] - splitTolerance, rusageAfter[0] + splitTolerance);
                assertThat(now.systemNanos())
                        .isBetween(rusageBefore[1] - splitTolerance, rusageAfter[1] + splitTolerance);
            }

            long user = TaskClock.userNanos();
            long system = TaskClock.systemNanos();
            long later = TaskClock.cpuNanos();
            assertThat(user).isBetween(now.userNanos(), later - now.systemNanos());
            assertThat(system).isBetween(now.systemNanos(), later - user);
            last = now;
        }
    }

    private static void user() {
        Work.user(ThreadLocalRandom.current().nextInt(50_000));
    }

    @SuppressWarnings("ThreadPriorityCheck") // a yield is one of the ways to be switched out
    private static void anything() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        switch (random.nextInt(5)) {
            case 0 -> user();
            case 1 -> Work.system(random.nextInt(20));
            case 2 -> LockSupport.parkNanos(random.nextInt(3_000_000));
            case 3 -> Os.touchPages(random.nextInt(200));
            default -> Thread.yield();
        }
    }
}
