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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** Many threads with short sections, while several copies of the library read all the time. */
@SuppressWarnings("try") // sections are opened only to count
class AccountStormTest {
    private static final int THREADS = 16;
    private static final int ACCOUNTS = 300;
    private static final long STORM_NANOS = 1_500_000_000;
    /** A thread's clock may be ahead of the kernel's by 1 us, and its user time is not exact. */
    private static final long AHEAD_NANOS = 2_000;

    private final Object[] shared = SharedAccountType.create();
    private final AccountType type = new AccountType("test", shared);
    private final Map<String, LongAdder> heard = new ConcurrentHashMap<>();
    private final LongAdder heardInAll = new LongAdder();
    private final LongAdder sections = new LongAdder();
    private final AtomicBoolean isDone = new AtomicBoolean();

    private void listen() {
        type.listen((name, nanos) -> {
            heard.computeIfAbsent(name, n -> new LongAdder()).add(nanos);
            heardInAll.add(nanos);
            sections.increment();
        });
    }

    /** Works until the storm is over. Some threads end, and others take their place. */
    private void storm(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 2_000 && !isDone.get(); i++) nest(random, 1 + random.nextInt(4));
        if (!isDone.get()) startAndJoin(() -> storm(random.nextLong()));
    }

    private static void startAndJoin(Runnable task) {
        Thread thread = new Thread(task);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void nest(SplittableRandom random, int depth) {
        // Few accounts get most sections.
        int account = random.nextInt(1 + random.nextInt(ACCOUNTS));
        CpuSection section = type.of("account " + account).enter();
        CpuLoad.burnUser(random.nextInt(10_000));
        if (depth == 1 || random.nextInt(8) > 0) {
            if (depth > 1) nest(random, depth - 1);
            section.close();
        } else {
            try (CpuSection overlapping = type.of("account 0").enter()) {
                section.close();
                CpuLoad.burnUser(random.nextInt(100));
            }
        }
    }

    private void read(AccountType copy) {
        Map<String, AccountUsage> last = new HashMap<>();
        while (!isDone.get()) {
            long before = heardInAll.sum();
            AccountReading reading = copy.read();
            long process = ProcessClock.current().cpuNanos();
            long sum = reading.retired().cpuNanos();
            for (AccountUsage row : reading.accounts()) {
                sum += row.cpuNanos();
                assertNotLess(row, last.put(row.name(), row));
            }
            // Each section that was closed before is included, and nothing is counted twice.
            assertThat(sum).isBetween(before, process + THREADS * AHEAD_NANOS);
        }
    }

    private static void assertNotLess(AccountUsage row, AccountUsage last) {
        assertThat(row.userNanos()).isBetween(0L, row.cpuNanos());
        if (last == null) return;
        assertThat(row.cpuNanos()).isGreaterThanOrEqualTo(last.cpuNanos());
        assertThat(row.userNanos()).isGreaterThanOrEqualTo(last.userNanos());
        assertThat(row.sections()).isGreaterThanOrEqualTo(last.sections());
    }

    @Test
    void shouldNeitherLoseNorRepeatTime() throws InterruptedException {
        assumeTrue(ExpectedBackend.isNative(), "ThreadMXBean's clocks of a thread and of the process differ");
        type.maxNames(40);
        listen();
        List<Runnable> tasks = new ArrayList<>();
        for (int i = 0; i < 3; i++) tasks.add(() -> read(new AccountType("test", shared)));
        for (int i = 0; i < THREADS; i++) {
            long seed = i;
            tasks.add(() -> storm(seed));
        }
        tasks.add(this::endStorm);
        runAll(tasks);

        AccountReading reading = type.read();
        long rows =
                reading.accounts().stream().mapToLong(AccountUsage::cpuNanos).sum();
        // A row may include what a reader saw before the thread's own clock did.
        assertThat(rows + reading.retired().cpuNanos()).isBetween(heardInAll.sum(), heardInAll.sum() + 1_000_000);
        long count =
                reading.accounts().stream().mapToLong(AccountUsage::sections).sum();
        assertThat(count + reading.retired().sections()).isEqualTo(sections.sum());
        assertThat(reading.openSections()).isEmpty();
        assertThat(reading.accounts()).hasSizeLessThanOrEqualTo(41);
        assertThat(reading.names()).isEqualTo(heard.size());
        Map<String, Long> counted = new HashMap<>();
        Map<String, Long> expected = new HashMap<>();
        heard.forEach((name, nanos) -> expected.put(name, nanos.sum()));
        for (String name : heard.keySet())
            counted.put(name, NamedAccount.counters(type.named(name).shared()).get(AccountCounters.CPU));
        // All threads have ended, so the counters are complete, and exact.
        assertThat(counted).isEqualTo(expected);
    }

    private void endStorm() {
        long end = System.nanoTime() + STORM_NANOS;
        while (System.nanoTime() < end) Thread.onSpinWait();
        isDone.set(true);
    }

    private void runAll(List<Runnable> tasks) throws InterruptedException {
        Throwable[] failure = new Throwable[1];
        List<Thread> threads = new ArrayList<>();
        for (Runnable task : tasks) {
            Thread thread = new Thread(task);
            thread.setUncaughtExceptionHandler((t, e) -> {
                failure[0] = e;
                isDone.set(true);
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) thread.join();
        if (failure[0] != null) throw new AssertionError(failure[0]);
    }

    /** A reader would miss usage that moves from a thread to an account. */
    @Test
    void shouldNotMoveUsageWhileAnotherThreadReads() throws InterruptedException {
        ReentrantLock lock = (ReentrantLock) shared[SharedAccountType.LOCK];
        lock.lock();
        try {
            CpuLoad.runOnThreads(1, () -> {
                for (int i = 0; i < 200; i++) type.of("a" + i).enter().close();
            });
            for (int i = 200; i < 400; i++) {
                String name = "a" + i;
                CpuLoad.runOnThreads(1, () -> type.of(name).enter().close());
            }
            assertThat(type.accounts().values())
                    .hasSize(400)
                    .allMatch(each -> NamedAccount.counters(each).get(AccountCounters.SECTIONS) == 0);
        } finally {
            lock.unlock();
        }
        type.maxNames(1_000);
        assertThat(type.read().accounts()).hasSize(400).allMatch(row -> row.sections() == 1);
    }

    /** The kernel updates a process's CPU time only at ticks while its threads run, so only this one may run. */
    @Test
    void shouldAddUpToTheCpuTimeOfTheProcess() throws InterruptedException {
        assumeTrue(ExpectedBackend.isNative(), "the JVM does not report user time of the process");
        CpuLoad.runOnThreads(4, () -> {
            try (var section = type.of("a").enter()) {
                CpuLoad.burnUser(3_000_000);
            }
        });
        try (var open = type.of("b").enter()) {
            CpuLoad.burnUser(3_000_000);
            for (int i = 0; i < 20; i++) {
                long before = ProcessClock.current().cpuNanos();
                AccountReading reading = type.read();
                long after = ProcessClock.current().cpuNanos();
                long sum = reading.unaccounted().cpuNanos() + reading.retired().cpuNanos();
                for (AccountUsage row : reading.accounts()) sum += row.cpuNanos();
                assertThat(sum).isBetween(before, after + AHEAD_NANOS);
                assertThat(reading.rows()).last().satisfies(row -> {
                    assertThat(row.name()).isEqualTo("(unaccounted)");
                    assertThat(row.cpuNanos()).isPositive();
                    assertThat(row.userNanos()).isBetween(0L, row.cpuNanos());
                });
            }
        }
    }
}
