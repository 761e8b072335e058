// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Tests that times of virtual threads are unknown without the agent: the kernel's clocks measure only their carriers.
 */
class VirtualThreadTest {
    @BeforeAll
    static void assumeVirtualThreads() {
        assumeTrue(VirtualThreadRunner.isSupported(), "this JDK has no virtual threads");
    }

    @Test
    void shouldReturnUnknownForTheCallingVirtualThread() throws InterruptedException {
        VirtualThreadRunner.run(() -> {
            assertThat(TaskClock.cpuNanos()).isEqualTo(-1);
            assertThat(TaskClock.userNanos()).isEqualTo(-1);
            assertThat(TaskClock.systemNanos()).isEqualTo(-1);
            assertThat(TaskClock.now()).isEqualTo(CpuTime.UNKNOWN);
            long[] read = {1, 2, 3};
            TaskClock.read(read);
            assertThat(read).containsOnly(-1);
            assertUnknown(ThreadClock.of(Thread.currentThread()));
        });
    }

    @Test
    void shouldReturnUnknownForAnotherVirtualThread() throws InterruptedException {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Thread thread = VirtualThreadRunner.start(() -> {
            running.countDown();
            while (end.getCount() > 0) Thread.onSpinWait(); // stays mounted
        });
        running.await();
        ThreadClock clock = ThreadClock.of(thread);
        assertUnknown(clock);
        end.countDown();
        thread.join();
        assertUnknown(clock);
    }

    @Test
    void shouldReadPlatformThreadsFromAVirtualThread() throws InterruptedException {
        ThreadClock platform = ThreadClock.of(Thread.currentThread());
        long before = TaskClock.cpuNanos();
        VirtualThreadRunner.run(() -> {
            assertThat(platform.cpuNanos()).isGreaterThanOrEqualTo(before);
            assertThat(platform.now().isKnown()).isTrue();
            assertThat(ProcessClock.current().cpuNanos()).isPositive();
            int[] tids = new int[1000];
            long[] nanos = new long[1000];
            int count = new ThreadSnapshot().read(tids, nanos, new long[1000], new long[1000]);
            assertThat(count).isNotZero();
            if (TaskClock.isNative()) assertThat(tids).contains(platform.tid());
        });
    }

    private static void assertUnknown(ThreadClock clock) {
        assertThat(clock.cpuNanos()).isEqualTo(-1);
        assertThat(clock.userNanos()).isEqualTo(-1);
        assertThat(clock.systemNanos()).isEqualTo(-1);
        assertThat(clock.now()).isEqualTo(CpuTime.UNKNOWN);
        assertThat(clock.tid()).isEqualTo(-1);
    }
}
