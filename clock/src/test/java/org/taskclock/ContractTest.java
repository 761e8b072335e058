// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the contract of the calling thread's clock on every backend, no matter what the thread does between reads. */
@Tag("contract")
class ContractTest {
    private static final long RUN_NANOS = 700_000_000;

    private static final int SPINNERS = 4;

    @Test
    void shouldUseTheExpectedBackend() {
        assertThat(TaskClock.status().backend()).hasToString(ExpectedBackend.name());
    }

    @Test
    void shouldHoldForMixedActivity() throws InterruptedException {
        CpuLoad.runOnThreads(
                1, () -> new ContractVerifier().verify(RUN_NANOS, (verifier, round) -> doRandomStep(verifier)));
    }

    @Test
    void shouldHoldForMoreSpinningThreadsThanProcessors() throws InterruptedException {
        CpuLoad.runOnThreads(
                SPINNERS, () -> new ContractVerifier().verify(RUN_NANOS, (verifier, round) -> burnUserTime()));
    }

    @Test
    void shouldHoldForThreadsThatMigrate() throws InterruptedException {
        int cpus = Runtime.getRuntime().availableProcessors();
        CpuLoad.runOnThreads(2, () -> new ContractVerifier().verify(RUN_NANOS, (verifier, round) -> {
            assertThat(SystemCalls.pinToCpu((int) (round % cpus))).isTrue();
            burnUserTime();
        }));
    }

    /** Each thread is switched out for less than the life of a base, so only the marker reveals the switch. */
    @Test
    @SuppressWarnings("ThreadPriorityCheck") // yields to be switched out
    void shouldHoldForThreadsThatShareOneProcessor() throws InterruptedException {
        CpuLoad.runOnThreads(2, () -> {
            assertThat(SystemCalls.pinToCpu(0)).isTrue();
            new ContractVerifier().verify(RUN_NANOS, (verifier, round) -> {
                CpuLoad.sink = TaskClock.cpuNanos();
                Thread.yield();
            });
        });
    }

    @Test
    void shouldHoldUnderASignalStorm() throws InterruptedException {
        SystemCalls.installNoOpHandler(SystemCalls.SIGUSR2);
        AtomicBoolean done = new AtomicBoolean();
        CpuLoad.runOnThreads(1, () -> {
            int target = SystemCalls.gettid();
            Thread storm = new Thread(() -> {
                while (!done.get() && SystemCalls.sendSignal(target, SystemCalls.SIGUSR2))
                    LockSupport.parkNanos(20_000);
            });
            storm.start();
            new ContractVerifier().verify(RUN_NANOS, (verifier, round) -> doRandomStep(verifier));
            done.set(true);
        });
    }

    @Test
    void shouldStartNearZeroOnANewThread() throws InterruptedException {
        // Well above the CPU time that a thread uses before it runs Java code.
        long maxStartNanos = 20_000_000;
        CpuLoad.runOnThreads(1, () -> {
            assertThat(TaskClock.cpuNanos()).isBetween(1L, maxStartNanos);
            CpuTime now = TaskClock.now();
            assertThat(now.userNanos() + now.systemNanos()).isEqualTo(now.cpuNanos());
        });
    }

    @Test
    void shouldAgreeBetweenAllMethods() throws InterruptedException {
        CpuLoad.runOnThreads(1, () -> {
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
                CpuLoad.burnUser(i);
            }
        });
    }

    private static void burnUserTime() {
        CpuLoad.burnUser(ThreadLocalRandom.current().nextInt(50_000));
    }

    @SuppressWarnings("ThreadPriorityCheck") // a yield is one of the ways to be switched out
    static void doRandomStep(ContractVerifier verifier) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        switch (random.nextInt(5)) {
            case 0 -> burnUserTime();
            case 1 -> CpuLoad.burnSystem(random.nextInt(20));
            case 2 -> verifier.block(random.nextInt(3_000_000));
            case 3 -> SystemCalls.touchPages(random.nextInt(200));
            default -> Thread.yield();
        }
    }
}
