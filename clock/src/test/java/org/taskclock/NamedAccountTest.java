// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("contract")
@SuppressWarnings("try") // sections are opened only to count
class NamedAccountTest {
    private static final AccountType TYPE = CpuAccounts.type("test");
    private static final AtomicInteger NAMES = new AtomicInteger();
    private static final long WORK_NANOS = 3_000_000;
    /** The readers' clock may be ahead of the thread's by this much. */
    private static final long AHEAD_NANOS = 100_000;

    private final String suffix = " " + NAMES.incrementAndGet();
    private final CpuAccount a = account("a");
    private final CpuAccount b = account("b");
    /** What the listener has received, by account. */
    private final Map<String, Long> heard = new ConcurrentHashMap<>();

    private AutoCloseable subscription;

    private CpuAccount account(String name) {
        return TYPE.of(name + suffix);
    }

    @BeforeEach
    void listen() {
        subscription = TYPE.listen((account, nanos) -> heard.merge(account, nanos, Long::sum));
    }

    @AfterEach
    void stopListening() throws Exception {
        subscription.close();
    }

    private static long work() {
        return work(WORK_NANOS);
    }

    /** Returns the CPU time that this took. */
    private static long work(long nanos) {
        long start = TaskClock.cpuNanos();
        while (TaskClock.cpuNanos() < start + nanos) CpuLoad.burnUser(1_000);
        return TaskClock.cpuNanos() - start;
    }

    /** Checks that an account has counted exactly what the listener received. */
    private void assertHeard(String name) {
        assertThat(account(name).cpuNanos()).isEqualTo(heard.get(name + suffix));
    }

    private static void assertFaults(CpuAccount account, int uncounted, int unclosed, int elsewhere, int twice) {
        assertThat(account.now())
                .usingRecursiveComparison()
                .ignoringFields("cpuNanos")
                .isEqualTo(new CpuUsage(0, -1, uncounted, unclosed, elsewhere, twice));
    }

    @Test
    void shouldCountTheInnermostSectionOnly() {
        long start = TaskClock.cpuNanos();
        long inner;
        try (var outer = a.enter()) {
            work();
            long before = TaskClock.cpuNanos();
            try (var section = b.enter();
                    var again = a.enter()) {
                work();
            }
            inner = TaskClock.cpuNanos() - before;
            try (var section = b.enter()) {
                work();
            }
        }
        long all = TaskClock.cpuNanos() - start;
        assertThat(a.cpuNanos()).isGreaterThanOrEqualTo(2 * WORK_NANOS);
        assertThat(b.cpuNanos()).isGreaterThanOrEqualTo(WORK_NANOS);
        assertThat(a.cpuNanos() + b.cpuNanos()).isBetween(3 * WORK_NANOS, all);
        assertThat(inner).isPositive();
        assertHeard("a");
        assertHeard("b");
        assertThat(a.now().isComplete()).isTrue();
    }

    @Test
    void shouldCountInAPlainAccountAndInAnotherTypeAsWell() {
        CpuAccount plain = CpuAccount.create();
        CpuAccount inside = CpuAccount.create();
        CpuAccount otherType = CpuAccounts.type("test.other").of("x" + suffix);
        try (var first = plain.enter();
                var second = a.enter();
                var third = otherType.enter();
                var fourth = inside.enter()) {
            work();
            try (var fifth = b.enter()) {
                work();
            }
        }
        long sum = a.cpuNanos() + b.cpuNanos();
        assertThat(otherType.cpuNanos()).isBetween(inside.cpuNanos(), sum);
        assertThat(sum).isBetween(2 * WORK_NANOS, plain.cpuNanos());
    }

    @Test
    void shouldAllowSectionsToOverlap() {
        CpuSection first = a.enter();
        work();
        CpuSection second = b.enter();
        work();
        first.close();
        long before = b.cpuNanos();
        work();
        assertThat(b.cpuNanos() - before).isGreaterThanOrEqualTo(WORK_NANOS);
        second.close();
        long after = a.cpuNanos() + b.cpuNanos();
        work();
        assertThat(a.cpuNanos() + b.cpuNanos()).isEqualTo(after);
        assertThat(a.cpuNanos()).isGreaterThanOrEqualTo(WORK_NANOS);
        assertHeard("a");
        assertHeard("b");
        assertThat(a.now().isComplete() && b.now().isComplete()).isTrue();
    }

    /** Each section is closed after the next one was opened, so there is always an open one. */
    @Test
    void shouldNotCountOverlappingSectionsAsNested() {
        CpuSection last = a.enter();
        for (int i = 0; i < 200; i++) {
            CpuSection next = i % 2 == 0 ? b.enter() : a.enter();
            last.close();
            last = next;
        }
        last.close();
        assertHeard("a");
        assertHeard("b");
        assertThat(a.now().isComplete() && b.now().isComplete()).isTrue();
    }

    @Test
    void shouldReportWrongClosesAndIgnoreThem() throws InterruptedException {
        CpuSection outer = a.enter();
        CpuSection inner = b.enter();
        CpuLoad.runOnThreads(1, inner::close);
        inner.close();
        inner.close();
        CpuSection reused = b.enter(); // at the same position
        inner.close();
        work();
        reused.close();
        outer.close();
        assertThat(b.cpuNanos()).isGreaterThanOrEqualTo(WORK_NANOS);
        assertFaults(b, 0, 0, 1, 2);
        assertFaults(a, 0, 0, 0, 0);
        assertThat(usage("b").misclosed()).isEqualTo(3);
        assertThat(usage("b").sections()).isEqualTo(2);
    }

    private AccountUsage usage(String name) {
        // Unlike other accounts, those of tests may not have a row.
        TYPE.maxNames(1_000);
        return TYPE.read().accounts().stream()
                .filter(row -> row.name().equals(name + suffix))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldCloseSectionsWhenAnExceptionIsThrown() {
        assertThatThrownBy(() -> {
                    try (var outer = a.enter();
                            var inner = b.enter()) {
                        work();
                        throw new IllegalStateException("expected");
                    }
                })
                .hasMessage("expected");
        long counted = b.cpuNanos();
        work();
        assertThat(a.cpuNanos()).isLessThan(WORK_NANOS);
        assertThat(b.cpuNanos()).isEqualTo(counted).isGreaterThanOrEqualTo(WORK_NANOS);
    }

    @Test
    void shouldDiscardSectionsThatAPoolThreadNeverCloses() throws InterruptedException {
        CpuLoad.runOnThreads(1, () -> {
            for (int i = 0; i < 64; i++) a.enter();
            try (var section = b.enter()) {
                work();
            }
            long counted = a.cpuNanos();
            work();
            assertThat(a.cpuNanos()).isEqualTo(counted);
        });
        assertFaults(a, 0, 64, 0, 0);
        assertThat(b.cpuNanos()).isGreaterThanOrEqualTo(WORK_NANOS);
        assertThat(b.now().isComplete()).isTrue();
    }

    @Test
    void shouldReportASectionWhoseThreadEnded() throws InterruptedException {
        long[] seen = new long[1];
        CpuLoad.runOnThreads(1, () -> {
            a.enter();
            b.enter();
            work();
            seen[0] = b.cpuNanos();
            work();
        });
        assertThat(b.cpuNanos()).isEqualTo(seen[0]).isGreaterThanOrEqualTo(WORK_NANOS);
        assertFaults(b, 0, 1, 0, 0);
        assertFaults(a, 0, 1, 0, 0);
        assertThat(usage("b").cpuNanos()).isEqualTo(seen[0]);
        assertThat(usage("b").unclosed()).isEqualTo(1);
        try (var section = b.enter()) {
            work();
        }
        assertThat(b.cpuNanos()).isGreaterThanOrEqualTo(seen[0] + WORK_NANOS);
    }

    @Test
    void shouldReportDeepRecursionAndRecover() throws InterruptedException {
        CpuLoad.runOnThreads(1, () -> {
            recurse(100);
            long before = b.cpuNanos();
            try (var section = b.enter()) {
                work();
            }
            assertThat(b.cpuNanos() - before).isGreaterThanOrEqualTo(WORK_NANOS);
        });
        // The outermost 64 sections are discarded, so closing them has no effect.
        assertFaults(a, 0, 64, 0, 64);
        assertThat(usage("a").sections()).isEqualTo(36);
        assertThat(a.cpuNanos()).isGreaterThanOrEqualTo(36 * 10_000);
    }

    private void recurse(int depth) {
        try (var section = a.enter()) {
            work(10_000);
            if (depth > 1) recurse(depth - 1);
        }
    }

    /** A stack overflow can occur anywhere in enter and close. */
    @Test
    void shouldSurviveStackOverflows() throws InterruptedException {
        CpuLoad.runOnThreads(1, () -> {
            for (int i = 0; i < 50; i++) assertThat(overflow(i)).isTrue();
            // There may be open sections that nobody will close, but only the innermost section counts.
            long before = a.cpuNanos() + b.cpuNanos();
            try (var section = account("c").enter()) {
                work();
            }
            assertThat(a.cpuNanos() + b.cpuNanos() - before).isLessThan(WORK_NANOS);
            before = a.cpuNanos() + b.cpuNanos();
            long used = work();
            assertThat(a.cpuNanos() + b.cpuNanos() - before).isLessThan(used + WORK_NANOS);
            // More than 64 of them are discarded.
            for (int i = 0; i <= 64; i++) account("d").enter();
            before = a.cpuNanos() + b.cpuNanos();
            work();
            assertThat(a.cpuNanos() + b.cpuNanos()).isEqualTo(before);
        });
        assertThat(account("c").cpuNanos()).isGreaterThanOrEqualTo(WORK_NANOS);
        assertThat(account("c").now().isComplete()).isTrue();
    }

    /** Returns whether the stack overflowed. */
    private boolean overflow(int extraFrames) {
        try {
            return extraFrames > 0 ? overflow(extraFrames - 1) : nest(0) < 0;
        } catch (StackOverflowError e) {
            return true;
        }
    }

    private int nest(int depth) {
        if (depth == Integer.MAX_VALUE) return depth;
        try (var section = depth % 2 == 0 ? a.enter() : b.enter()) {
            return nest(depth + 1);
        }
    }

    /** Some pools clear a thread's local variables after each task. */
    @Test
    void shouldKeepTheUsageOfThreadsThatForgetTheirLocals() throws InterruptedException {
        Object[] shared = SharedAccountType.create();
        AccountType type = new AccountType("test", shared);
        CpuLoad.runOnThreads(1, () -> {
            long start = TaskClock.cpuNanos();
            for (int i = 0; i < 500; i++) {
                try (var section = type.of("a").enter()) {
                    work(10_000);
                }
                ((ThreadLocal<?>) shared[SharedAccountType.OWN_SLOT]).remove();
            }
            assertThat(type.of("a").cpuNanos()).isBetween(500 * 10_000L, TaskClock.cpuNanos() - start);
            assertThat((Map<?, ?>) shared[SharedAccountType.THREADS]).hasSize(1);
        });
        assertThat(type.of("a").now().isComplete()).isTrue();
    }

    @Test
    void shouldReportSectionsOnUncountedVirtualThreads() throws InterruptedException {
        assumeTrue(VirtualThreadRunner.isSupported(), "this JDK has no virtual threads");
        VirtualThreadRunner.run(() -> {
            try (var section = a.enter()) {
                CpuLoad.burnUser(1_000_000);
            }
            a.enter().close();
        });
        assertThat(a.cpuNanos()).isZero();
        assertFaults(a, 2, 0, 0, 0);
        assertThat(usage("a").uncounted()).isEqualTo(2);
        assertThat(usage("a").sections()).isZero();
    }

    @Test
    void shouldListOpenSections() {
        try (var outer = a.enter()) {
            work();
            try (var inner = b.enter()) {
                TYPE.read();
                work();
                OpenSection open = openSection();
                assertThat(open.name()).isEqualTo("b" + suffix);
                assertThat(open.cpuNanos()).isBetween(WORK_NANOS, b.cpuNanos() + AHEAD_NANOS);
                assertThat(open.openNanos()).isPositive();
            }
            long before = openSection().cpuNanos();
            work();
            assertThat(openSection().cpuNanos() - before).isGreaterThanOrEqualTo(WORK_NANOS);
            assertThat(openSection().name()).isEqualTo("a" + suffix);
        }
        assertThat(TYPE.read().openSections()).noneMatch(open -> open.thread() == Thread.currentThread());
    }

    private static OpenSection openSection() {
        List<OpenSection> open = TYPE.read().openSections().stream()
                .filter(each -> each.thread() == Thread.currentThread())
                .toList();
        assertThat(open).hasSize(1);
        return open.get(0);
    }

    @Test
    void shouldCountManyAccountsOfOneThread() {
        Deque<CpuSection> open = new ArrayDeque<>();
        for (int i = 0; i < 40; i++) open.push(account("deep " + i).enter());
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 500; i++) account("many " + i).enter().close();
        }
        assertThat(AccountCells.cells(TYPE.slot(Thread.currentThread()))).hasSizeLessThanOrEqualTo(4 * 64);
        while (!open.isEmpty()) open.pop().close();
        Map<String, Long> counted = new HashMap<>();
        for (String name : heard.keySet()) counted.put(name, TYPE.of(name).cpuNanos());
        assertThat(counted).hasSize(540).isEqualTo(heard);
    }
}
