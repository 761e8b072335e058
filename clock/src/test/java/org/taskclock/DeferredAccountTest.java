// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** Tests accounts whose names become known after they have used CPU time. */
@SuppressWarnings("try") // sections are opened only to count
class DeferredAccountTest {
    private static final int THREADS = 8;
    /** A thread's clock may be ahead of the kernel's by 1 us. */
    private static final long AHEAD_NANOS = 2_000;

    private final AccountType type = new AccountType("test", SharedAccountType.create());

    private static void work() {
        long start = TaskClock.cpuNanos();
        while (TaskClock.cpuNanos() - start < 3_000_000) CpuLoad.burnUser(1_000);
    }

    private static void work(DeferredAccount account) {
        try (var section = account.enter()) {
            work();
        }
    }

    private static AccountUsage row(AccountReading reading, String name) {
        return reading.accounts().stream()
                .filter(row -> row.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no row " + name + " in " + reading));
    }

    private static long sum(AccountReading reading) {
        long sum = reading.unaccounted().cpuNanos() + reading.retired().cpuNanos();
        for (AccountUsage row : reading.accounts()) sum += row.cpuNanos();
        return sum;
    }

    @Test
    void shouldMoveTheTimeOfAllThreadsToTheAccountOnceItIsKnown() throws InterruptedException {
        DeferredAccount account = type.deferred();
        work(account);
        CpuLoad.runOnThreads(2, () -> work(account));
        AccountReading before = type.read();
        assertThat(before.accounts()).isEmpty();
        assertThat(before.names()).isZero();
        assertThat(before.retired().sections()).isZero();
        long pending = before.retired().cpuNanos();
        assertThat(pending).isGreaterThanOrEqualTo(9_000_000);

        account.assign("a");
        account.assign("b");
        AccountReading after = type.read();
        assertThat(after.accounts()).hasSize(1);
        assertThat(row(after, "a").cpuNanos()).isEqualTo(pending);
        assertThat(row(after, "a").sections()).isEqualTo(1);
        assertThat(row(after, "a").userNanos())
                .isEqualTo(before.retired().userNanos())
                .isPositive();
        assertThat(after.retired().cpuNanos()).isZero();
        assertThat(after.retired().userNanos()).isZero();
    }

    /** The kernel updates a process's CPU time only at ticks while its threads run, so only this one may run. */
    @Test
    void shouldAddUpToTheCpuTimeOfTheProcessWhileNamesAreUnknown() {
        assumeTrue(ExpectedBackend.isNative(), "ThreadMXBean's clocks of a thread and of the process differ");
        AccountReading last = type.read();
        for (int i = 0; i < 20; i++) {
            DeferredAccount account = type.deferred();
            try (var section = account.enter()) {
                work();
                last = assertSum(last); // with an open section
            }
            last = assertSum(last);
            account.assign("a");
            last = assertSum(last);
        }
        assertThat(row(last, "a").cpuNanos()).isGreaterThanOrEqualTo(60_000_000);
    }

    private AccountReading assertSum(AccountReading last) {
        long before = ProcessClock.current().cpuNanos();
        AccountReading reading = type.read();
        long after = ProcessClock.current().cpuNanos();
        assertThat(sum(reading)).isBetween(before, after + AHEAD_NANOS);
        assertThat(reading.unaccounted().cpuNanos())
                .isGreaterThanOrEqualTo(last.unaccounted().cpuNanos());
        return reading;
    }

    @Test
    void shouldCountOnlyForTheInnermostSectionOfTheType() {
        DeferredAccount account = type.deferred();
        try (var section = account.enter()) {
            work();
            try (var inner = type.of("inner").enter()) {
                work();
                work(type.deferred()); // never named
                work();
            }
        }
        long pending = type.read().retired().cpuNanos();
        account.assign("outer");
        AccountReading reading = type.read();
        assertThat(row(reading, "outer").cpuNanos()).isBetween(3_000_000L, pending - 3_000_000);
        assertThat(row(reading, "inner").cpuNanos()).isGreaterThanOrEqualTo(6_000_000);
        assertThat(row(reading, "outer").cpuNanos() + reading.retired().cpuNanos())
                .isEqualTo(pending);
    }

    @Test
    void shouldCountWhatEndsAfterTheNameIsKnown() throws InterruptedException {
        DeferredAccount account = type.deferred();
        CountDownLatch hasEntered = new CountDownLatch(1);
        CountDownLatch isNamed = new CountDownLatch(1);
        Thread late = new Thread(() -> {
            try (var section = account.enter()) {
                work();
                hasEntered.countDown();
                isNamed.await();
                work();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        late.start();
        hasEntered.await();
        account.assign("a");
        isNamed.countDown();
        AccountReading first = type.read();
        assertThat(row(first, "a").sections()).isPositive();
        late.join();
        assertThat(row(type.read(), "a").cpuNanos()).isGreaterThanOrEqualTo(6_000_000);
        try (var section = account.enter()) {
            work();
        }
        assertThat(row(type.read(), "a").cpuNanos()).isGreaterThanOrEqualTo(9_000_000);
        assertThat(row(type.read(), "a").sections()).isEqualTo(1);
        assertThat(type.read().retired().cpuNanos()).isZero();
    }

    @Test
    void shouldReturnTheTimeOfWorkThatBelongsToNoAccount() {
        DeferredAccount account = type.deferred();
        work(account);
        AccountReading before = type.read();
        account.assign(null);
        work(account);
        AccountReading after = type.read();
        assertThat(after.accounts()).isEmpty();
        assertThat(after.retired().cpuNanos()).isZero();
        if (ExpectedBackend.isNative())
            assertThat(after.unaccounted().cpuNanos())
                    .isGreaterThanOrEqualTo(before.unaccounted().cpuNanos() + 6_000_000);
    }

    @Test
    void shouldReserveTheNameOfPendingSections() {
        DeferredAccount account = type.deferred();
        try (var section = account.enter()) {
            assertThat(type.read().openSections()).hasSize(1).allMatch(open -> open.name()
                    .equals("(pending)"));
            assertThat(type.of("(pending)").name()).isEqualTo(AccountType.OTHER);
        }
    }

    @Test
    void shouldTreatTheTimeAsOneSection() {
        List<Long> heard = new ArrayList<>();
        type.withDistribution().of("a").enter().close();
        type.read(); // gives the account a row
        type.listen((name, nanos) -> heard.add(nanos));
        DeferredAccount account = type.deferred();
        for (int i = 0; i < 3; i++) work(account);
        assertThat(heard).isEmpty();
        account.assign("a");
        assertThat(heard).hasSize(1).allMatch(nanos -> nanos >= 9_000_000);
        assertThat(row(type.read(), "a").distribution().count()).isEqualTo(1);
    }

    @Test
    void shouldReportSectionsThatCannotBeCounted() throws InterruptedException {
        assumeTrue(VirtualThreadRunner.isSupported(), "this JDK has no virtual threads");
        DeferredAccount account = type.deferred();
        VirtualThreadRunner.run(() -> account.enter().close());
        account.assign("a");
        VirtualThreadRunner.run(() -> account.enter().close());
        assertThat(row(type.read(), "a").uncounted()).isEqualTo(2);
    }

    /** Threads hop between the works of each other, while a reader reads all the time. */
    @Test
    void shouldNeitherLoseNorRepeatTime() throws InterruptedException {
        LongAdder heard = new LongAdder();
        Map<Integer, DeferredAccount> works = new ConcurrentHashMap<>();
        AtomicBoolean isDone = new AtomicBoolean();
        type.listen((name, nanos) -> heard.add(nanos));
        Map<String, Long> last = new HashMap<>();
        Thread reader = new Thread(() -> {
            while (!isDone.get()) last.putAll(assertNotLess(last));
        });
        Throwable[] failure = new Throwable[1];
        reader.setUncaughtExceptionHandler((thread, e) -> failure[0] = e);
        reader.start();
        CpuLoad.runOnThreads(THREADS, () -> {
            SplittableRandom random =
                    new SplittableRandom(Thread.currentThread().getId());
            for (int i = 0; i < 20_000; i++) {
                int work = random.nextInt(20);
                DeferredAccount account = works.computeIfAbsent(work, n -> type.deferred());
                try (var section = account.enter()) {
                    CpuLoad.burnUser(random.nextInt(1_000));
                    if (random.nextInt(4) == 0) type.of("inner").enter().close();
                }
                if (random.nextInt(10) == 0) {
                    works.remove(work, account);
                    account.assign("a" + random.nextInt(5));
                }
            }
        });
        isDone.set(true);
        reader.join();
        assertThat(failure[0]).isNull();
        works.values().forEach(account -> account.assign("rest"));
        AccountReading reading = type.read();
        long rows =
                reading.accounts().stream().mapToLong(AccountUsage::cpuNanos).sum();
        // A row may include what a reader saw before the thread's own clock did.
        assertThat(rows).isBetween(heard.sum(), heard.sum() + 1_000_000);
        assertThat(reading.retired().cpuNanos()).isZero();
    }

    private Map<String, Long> assertNotLess(Map<String, Long> last) {
        Map<String, Long> rows = new HashMap<>();
        AccountReading reading = type.read();
        for (AccountUsage row : reading.rows()) {
            assertThat(row.cpuNanos()).isGreaterThanOrEqualTo(last.getOrDefault(row.name(), 0L));
            rows.put(row.name(), row.cpuNanos());
        }
        assertThat(reading.retired().cpuNanos()).isNotNegative();
        return rows;
    }
}
