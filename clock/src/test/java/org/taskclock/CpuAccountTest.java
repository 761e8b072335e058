// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("contract")
@SuppressWarnings("try") // sections are opened only to count
class CpuAccountTest {
    private static final long TOLERANCE = 3_000_000;

    private static final long WORK_NANOS = 20_000_000;

    private final CpuAccount account = CpuAccount.create();

    /**
     * The CPU time that all work took beyond the requested time, and that of starting and awaiting threads: the kernel
     * counts time that the host steals.
     */
    private final AtomicLong excessNanos = new AtomicLong();

    private void work() {
        work(WORK_NANOS);
    }

    private void work(long nanos) {
        long end = TaskClock.cpuNanos() + nanos;
        long now;
        while ((now = TaskClock.cpuNanos()) < end) CpuLoad.burnUser(1_000);
        excessNanos.addAndGet(now - end);
    }

    private void assertUsed(long nanos) {
        assertUsed(account, nanos);
    }

    private void assertUsed(CpuAccount account, long nanos) {
        assertThat(account.cpuNanos()).isBetween(nanos - TOLERANCE, nanos + excessNanos.get() + TOLERANCE);
    }

    private static CpuUsage faults(int uncounted, int unclosed, int closedElsewhere, int closedTwice) {
        return new CpuUsage(0, -1, uncounted, unclosed, closedElsewhere, closedTwice);
    }

    private void assertFaults(CpuUsage expected) {
        CpuUsage now = account.now();
        assertThat(now).usingRecursiveComparison().ignoringFields("cpuNanos").isEqualTo(expected);
        assertThat(now.isComplete()).isFalse();
    }

    /** Runs the body on a new thread and waits for it to end. */
    private void onThread(Runnable body) throws InterruptedException {
        long start = TaskClock.cpuNanos();
        CpuLoad.runOnThreads(1, body);
        excessNanos.addAndGet(TaskClock.cpuNanos() - start);
    }

    @Test
    void shouldCountOnlyInsideSections() {
        assertThat(account.cpuNanos()).isZero();
        long used = 0;
        for (int i = 0; i < 100; i++) {
            work(100_000);
            long before = TaskClock.cpuNanos();
            try (var section = account.enter()) {
                work(100_000);
            }
            used += TaskClock.cpuNanos() - before;
        }
        assertThat(account.cpuNanos()).isBetween(100 * 100_000L, used);
        assertThat(account.now().isComplete()).isTrue();
        assertThat(account.now().allocatedBytes()).isEqualTo(-1);
    }

    @Test
    void shouldCountNestedSectionsOnce() {
        long before = TaskClock.cpuNanos();
        try (var outer = account.enter()) {
            work();
            try (var inner = account.enter();
                    var innermost = account.enter()) {
                work();
            }
            try (var again = account.enter()) {
                work();
            }
            work();
        }
        assertUsed(TaskClock.cpuNanos() - before);
        work();
        assertUsed(4 * WORK_NANOS);
        assertThat(account.now().isComplete()).isTrue();
    }

    @Test
    void shouldCountNestedSectionsOfTwoAccounts() {
        CpuAccount other = CpuAccount.create();
        try (var outer = account.enter()) {
            work();
            try (var inner = other.enter()) {
                work();
            }
        }
        assertUsed(2 * WORK_NANOS);
        assertUsed(other, WORK_NANOS);
    }

    @Test
    void shouldAllowSectionsToOverlap() {
        CpuAccount other = CpuAccount.create();
        CpuSection first = account.enter();
        work();
        CpuSection second = other.enter();
        CpuSection third = account.enter();
        work();
        first.close();
        work();
        third.close();
        work();
        second.close();
        assertUsed(3 * WORK_NANOS);
        assertUsed(other, 3 * WORK_NANOS);
        assertThat(account.now().isComplete()).isTrue();
        assertThat(other.now().isComplete()).isTrue();
    }

    @Test
    void shouldSeparateManyAccountsOfOneThread() {
        List<CpuAccount> accounts = new ArrayList<>();
        List<CpuSection> sections = new ArrayList<>();
        for (int i = 0; i < 100; i++) accounts.add(CpuAccount.create());
        for (CpuAccount each : accounts) sections.add(each.enter());
        work();
        for (CpuAccount each : accounts) {
            each.enter().close();
            assertThat(each.cpuNanos()).isBetween(WORK_NANOS, WORK_NANOS + excessNanos.get() + TOLERANCE);
        }
        for (CpuSection section : sections) section.close();
        for (CpuAccount each : accounts) {
            assertThat(each.now().isComplete()).isTrue();
            long used = each.cpuNanos();
            work(1_000);
            assertThat(each.cpuNanos()).isEqualTo(used);
        }
    }

    @Test
    void shouldIncludeOpenSections() {
        try (var section = account.enter()) {
            work();
            assertUsed(WORK_NANOS);
        }
    }

    @Test
    void shouldIncludeOpenSectionsOfOtherThreads() throws InterruptedException {
        AtomicBoolean end = new AtomicBoolean();
        CountDownLatch entered = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            try (var section = account.enter()) {
                entered.countDown();
                while (!end.get()) CpuLoad.burnUser(1_000);
            }
        });
        thread.start();
        entered.await();
        ThreadClock clock = ThreadClock.of(thread);
        long before = account.cpuNanos();
        long start = clock.cpuNanos();
        while (clock.cpuNanos() < start + 5 * WORK_NANOS) Thread.onSpinWait();
        long used = clock.cpuNanos() - start;
        assertThat(account.cpuNanos()).isGreaterThanOrEqualTo(before + used - TOLERANCE);
        end.set(true);
        thread.join();
        long all = account.cpuNanos();
        assertThat(all).isGreaterThanOrEqualTo(before + used - TOLERANCE);
        assertThat(account.now().cpuNanos()).isEqualTo(all);
        assertThat(account.now().isComplete()).isTrue();
    }

    @Test
    void shouldKeepTheTimeOfThreadsThatHaveEnded() throws InterruptedException {
        long[] used = new long[1];
        for (int i = 0; i < 200; i++) {
            onThread(() -> {
                long before = TaskClock.cpuNanos();
                try (var section = account.enter()) {
                    work(100_000);
                }
                used[0] += TaskClock.cpuNanos() - before;
            });
            if (i % 50 == 0) assertThat(account.cpuNanos()).isPositive();
        }
        assertThat(account.cpuNanos()).isBetween(200 * 100_000L, used[0]);
        assertThat(account.now().isComplete()).isTrue();
    }

    @Test
    void shouldReportASectionWhoseThreadEnded() throws InterruptedException {
        long[] seen = new long[1];
        onThread(() -> {
            try (var section = account.enter()) {
                work();
            }
            account.enter();
            work();
            seen[0] = account.cpuNanos();
            work();
        });
        assertThat(account.cpuNanos()).isEqualTo(seen[0]);
        assertFaults(faults(0, 1, 0, 0));
        assertUsed(2 * WORK_NANOS);
        assertFaults(faults(0, 1, 0, 0));
    }

    @Test
    void shouldReportASectionClosedTwice() {
        CpuSection section = account.enter();
        work();
        section.close();
        work();
        section.close();
        assertUsed(WORK_NANOS);
        assertFaults(faults(0, 0, 0, 1));
    }

    @Test
    void shouldReportAnInnerSectionClosedTwiceAndKeepCounting() {
        try (var outer = account.enter()) {
            CpuSection inner = account.enter();
            inner.close();
            inner.close();
            work();
        }
        assertUsed(WORK_NANOS);
        assertFaults(faults(0, 0, 0, 1));
    }

    @Test
    void shouldReportAndIgnoreACloseOnAnotherThread() throws InterruptedException {
        CpuSection outer = account.enter();
        CpuSection inner = account.enter();
        onThread(outer::close);
        onThread(inner::close);
        work();
        inner.close();
        outer.close();
        work();
        assertUsed(WORK_NANOS);
        assertFaults(faults(0, 0, 2, 0));
    }

    @Test
    void shouldReportASectionClosedByAnotherThreadAfterItsThreadEnded() throws InterruptedException {
        CpuSection[] section = new CpuSection[1];
        onThread(() -> {
            section[0] = account.enter();
            work();
            assertUsed(WORK_NANOS);
        });
        section[0].close();
        assertUsed(WORK_NANOS);
        assertFaults(faults(0, 1, 1, 0));
    }

    @Test
    void shouldStopCountingWhenDone() throws InterruptedException {
        CpuSection section = account.enter();
        work();
        CpuUsage done = account.done();
        work();
        assertUsed(WORK_NANOS);
        assertThat(done.unclosed()).isEqualTo(1);
        assertThat(account.done()).isEqualTo(done);
        section.close();
        try (var late = account.enter()) {
            work();
        }
        onThread(() -> account.enter().close());
        assertThat(account.cpuNanos()).isEqualTo(done.cpuNanos());
        assertFaults(faults(2, 1, 0, 0));
    }

    @Test
    void shouldRunTheCallbackWhenASectionClosesOverTheLimit() {
        AtomicInteger calls = new AtomicInteger();
        account.limit(WORK_NANOS, calls::incrementAndGet);
        long before = TaskClock.cpuNanos();
        while (calls.get() == 0 && TaskClock.cpuNanos() < before + 10 * WORK_NANOS) {
            assertThat(account.isOverLimit()).isFalse();
            try (var section = account.enter()) {
                work(10_000);
            }
        }
        assertThat(calls).hasValue(1);
        // Near the limit, the account checks in steps of a thousandth of the limit.
        assertUsed(WORK_NANOS);
        assertThat(account.isOverLimit()).isTrue();
        try (var section = account.enter()) {
            work();
        }
        assertThat(account.check()).isTrue();
        assertThat(calls).hasValue(1);
    }

    @Test
    void shouldRunTheCallbackWhenShortLivedThreadsExceedTheLimit() throws InterruptedException {
        AtomicInteger calls = new AtomicInteger();
        account.limit(WORK_NANOS, calls::incrementAndGet);
        long piece = WORK_NANOS / 200;
        int count = 0;
        for (; calls.get() == 0 && count < 1_000; count++) {
            onThread(() -> {
                try (var section = account.enter()) {
                    work(piece);
                }
            });
        }
        assertThat(calls).hasValue(1);
        assertUsed(WORK_NANOS);
    }

    @Test
    void shouldRunTheCallbackOnTheThreadThatChecks() throws InterruptedException {
        AtomicReference<Thread> called = new AtomicReference<>();
        account.limit(2 * WORK_NANOS, () -> called.set(Thread.currentThread()));
        assertThat(account.check()).isFalse();
        Thread worker = new Thread(() -> {
            try (var section = account.enter()) {
                while (!account.isOverLimit()) CpuLoad.burnUser(1_000);
            }
        });
        worker.start();
        while (!account.check()) Thread.onSpinWait();
        assertThat(called).hasValue(Thread.currentThread());
        worker.join();
        assertThat(account.cpuNanos()).isGreaterThanOrEqualTo(2 * WORK_NANOS);
    }

    @Test
    void shouldCountTheSectionIfTheCallbackThrows() {
        account.limit(0, () -> {
            throw new IllegalStateException("killed");
        });
        assertThatThrownBy(() -> {
                    try (var section = account.enter()) {
                        work();
                    }
                })
                .hasMessage("killed");
        assertUsed(WORK_NANOS);
        work();
        assertUsed(WORK_NANOS);
        account.enter().close();
        assertThat(account.now().isComplete()).isTrue();
    }

    @Test
    void shouldReplaceTheLimit() {
        AtomicInteger calls = new AtomicInteger();
        account.limit(0, () -> {});
        account.enter().close();
        assertThat(account.isOverLimit()).isTrue();
        account.limit(WORK_NANOS, calls::incrementAndGet);
        assertThat(account.isOverLimit()).isFalse();
        try (var section = account.enter()) {
            work(2 * WORK_NANOS);
        }
        assertThat(calls).hasValue(1);
        assertThat(CpuAccount.create().check()).isFalse();
    }

    @Test
    void shouldRejectANegativeLimit() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> account.limit(-1, () -> {}))
                .withMessageContaining("-1");
    }

    @Test
    void shouldCountAllocatedBytes() {
        CpuAccount withBytes = CpuAccount.withAllocatedBytes();
        byte[][] kept = new byte[64][];
        try (var section = withBytes.enter()) {
            for (int i = 0; i < 32; i++) kept[i] = new byte[100_000];
            assertThat(withBytes.now().allocatedBytes()).isBetween(3_200_000L, 4_000_000L);
        }
        for (int i = 32; i < 64; i++) kept[i] = new byte[100_000];
        assertThat(withBytes.now().allocatedBytes()).isBetween(3_200_000L, 4_000_000L);
        assertThat(withBytes.done().allocatedBytes()).isBetween(3_200_000L, 4_000_000L);
        assertThat((Object[]) kept).doesNotContainNull();
    }

    @Test
    void shouldCountAllocatedBytesOfAnotherThread() throws InterruptedException {
        CpuAccount withBytes = CpuAccount.withAllocatedBytes();
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch allocated = new CountDownLatch(1);
        byte[][] kept = new byte[1][];
        Thread thread = new Thread(() -> {
            try (var section = withBytes.enter()) {
                kept[0] = new byte[5_000_000];
                allocated.countDown();
                end.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        thread.start();
        allocated.await();
        assertThat(withBytes.now().allocatedBytes()).isBetween(5_000_000L, 6_000_000L);
        end.countDown();
        thread.join();
        assertThat(withBytes.now().allocatedBytes()).isBetween(5_000_000L, 6_000_000L);
    }

    @Test
    void shouldReportSectionsOnUncountedVirtualThreads() throws InterruptedException {
        assumeTrue(VirtualThreadRunner.isSupported(), "this JDK has no virtual threads");
        VirtualThreadRunner.run(() -> {
            try (var section = account.enter()) {
                CpuLoad.burnUser(1_000_000);
            }
            account.enter().close();
        });
        assertThat(account.cpuNanos()).isZero();
        assertFaults(faults(2, 0, 0, 0));
    }
}
