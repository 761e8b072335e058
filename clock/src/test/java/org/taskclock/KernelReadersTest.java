// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The three readers of user time that the project started from agree with each other, within what each can resolve. */
class KernelReadersTest {
    private static final long TEXT_UNIT = 10_000_000;
    private static final long TICK = TaskClock.status().tickNanos();

    @Test
    void shouldAgreeOnUserTime() throws InterruptedException {
        Work.onThreads(1, () -> {
            while (Os.threadCpuNanos() < 300_000_000) Work.user(100_000);
            int tid = KernelReaders.tid();
            long[] rusage = new long[2];
            long byConstantId = KernelReaders.userNanosByConstantId();
            long byOwnId = KernelReaders.userNanosByOwnId(tid);
            long byText = KernelReaders.userNanosByText(tid);
            assertThat(KernelReaders.rusage(rusage)).isTrue();

            assertThat(tid).isEqualTo(Os.gettid());
            // Both are the same count; a tick may fall between the two reads.
            assertThat(byOwnId).isBetween(byConstantId, byConstantId + TICK);
            assertThat(byText).isBetween(rusage[0] - TEXT_UNIT - TICK, rusage[0]);
            // A sample: of a thread that has to share its processor ticks may find another, over and over.
            assertThat(byConstantId).isBetween(TICK / 2, 2 * rusage[0]);
        });
    }

    /** Why a split needs more than this count: it stands still within a tick. */
    @Test
    void shouldCountUserTimeATickAtATime() throws InterruptedException {
        assertThat(TaskClock.status().accounting()).isEqualTo(ClockStatus.Accounting.TICK);
        Work.onThreads(1, () -> {
            int steps = 0;
            long last = KernelReaders.userNanosByConstantId();
            long end = Os.threadCpuNanos() + 50 * TICK;
            while (Os.threadCpuNanos() < end) {
                long user = KernelReaders.userNanosByConstantId();
                if (user != last) steps++;
                last = user;
            }
            // Not to the nanosecond: the kernel takes off what the host stole. Twice as many steps would be another
            // clock.
            assertThat(steps).isBetween(1, 100);
        });
    }

    @Test
    void shouldAnswerMinusOneForNoThread() {
        assertThat(KernelReaders.userNanosByOwnId(4_194_305)).isEqualTo(-1);
    }

    @Test
    void shouldTimeSystemCalls() {
        int count = 1_000;
        ClockId own = ClockId.thread(0, ClockId.Kind.SCHED);
        // No system call takes less than 10 ns, and none of these as much as a millisecond each.
        assertThat(KernelReaders.timeSystemCalls(own, count)).isBetween(count * 10L, count * 1_000_000L);
        assertThat(KernelReaders.timeSystemCalls(ClockId.thread(4_194_305, ClockId.Kind.SCHED), count))
                .isEqualTo(-1);
    }
}
