// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What holds for the calling thread's clock on every rung, whatever the thread does between two reads. */
@Tag("contract")
class ContractTest {
    private static final long RUN_NANOS = 700_000_000;

    private static final int SPINNERS = 4;

    @Test
    void shouldUseTheRungThatIsExpectedHere() {
        assertThat(TaskClock.status().rung()).hasToString(Expected.rung());
    }

    @Test
    void shouldHoldForAThreadThatDoesEverything() throws InterruptedException {
        Work.onThreads(1, () -> new Observer().observe(RUN_NANOS, (observer, round) -> anything(observer)));
    }

    @Test
    void shouldHoldForMoreSpinnersThanCores() throws InterruptedException {
        Work.onThreads(SPINNERS, () -> new Observer().observe(RUN_NANOS, (observer, round) -> user()));
    }

    @Test
    void shouldHoldForThreadsThatTheKernelMustMigrate() throws InterruptedException {
        int cpus = Runtime.getRuntime().availableProcessors();
        Work.onThreads(2, () -> new Observer().observe(RUN_NANOS, (observer, round) -> {
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
            new Observer().observe(RUN_NANOS, (observer, round) -> {
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
            new Observer().observe(RUN_NANOS, (observer, round) -> anything(observer));
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

    private static void user() {
        Work.user(ThreadLocalRandom.current().nextInt(50_000));
    }

    @SuppressWarnings("ThreadPriorityCheck") // a yield is one of the ways to be switched out
    static void anything(Observer observer) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        switch (random.nextInt(5)) {
            case 0 -> user();
            case 1 -> Work.system(random.nextInt(20));
            case 2 -> observer.block(random.nextInt(3_000_000));
            case 3 -> Os.touchPages(random.nextInt(200));
            default -> Thread.yield();
        }
    }
}
