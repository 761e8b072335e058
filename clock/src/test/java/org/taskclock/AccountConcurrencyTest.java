// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

@SuppressWarnings("try") // sections are opened only to count
class AccountConcurrencyTest {
    private static final int THREADS = 64;

    private static final int SECTIONS_PER_THREAD = 400;

    private static final int WORK_ROUNDS = 3_000;

    /** Each thread's clock is within 1 us of the kernel's clock, which the readers use. */
    private static final long TOLERANCE = THREADS * 10_000L;

    @Test
    void shouldCountManyThreadsAndNeverDecrease() throws InterruptedException {
        CpuAccount account = CpuAccount.create();
        AtomicLong inside = new AtomicLong();
        AtomicLong around = new AtomicLong();
        AtomicBoolean done = new AtomicBoolean();
        AtomicReference<String> decrease = new AtomicReference<>();
        List<Thread> readers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Thread reader = new Thread(() -> {
                long last = 0;
                while (!done.get()) {
                    long now = account.cpuNanos();
                    if (now < last) decrease.set(last + " then " + now);
                    last = now;
                }
            });
            reader.start();
            readers.add(reader);
        }
        CpuLoad.runOnThreads(THREADS, () -> {
            long sumInside = 0;
            long sumAround = 0;
            for (int i = 0; i < SECTIONS_PER_THREAD; i++) {
                long before = TaskClock.cpuNanos();
                try (var section = account.enter()) {
                    long start = TaskClock.cpuNanos();
                    CpuLoad.burnUser(WORK_ROUNDS);
                    sumInside += TaskClock.cpuNanos() - start;
                }
                sumAround += TaskClock.cpuNanos() - before;
                CpuLoad.burnUser(WORK_ROUNDS);
            }
            inside.addAndGet(sumInside);
            around.addAndGet(sumAround);
        });
        long sum = account.cpuNanos();
        done.set(true);
        for (Thread reader : readers) reader.join();
        assertThat(sum).isBetween(inside.get() - TOLERANCE, around.get() + TOLERANCE);
        assertThat(decrease).hasValue(null);
        assertThat(account.now().isComplete()).isTrue();
    }

    /** Closes the sections that it is given. */
    private static final class Closer extends Thread {
        private final AtomicReference<CpuSection> pending = new AtomicReference<>();
        private volatile boolean isDone;

        @Override
        public void run() {
            while (!isDone) {
                CpuSection section = pending.get();
                if (section == null) continue;
                section.close();
                pending.set(null);
            }
        }

        void await() {
            while (pending.get() != null) Thread.onSpinWait();
        }

        void end() throws InterruptedException {
            isDone = true;
            join();
        }
    }

    @Test
    void shouldSurviveConcurrentClosesOfOneSection() throws InterruptedException {
        CpuAccount account = CpuAccount.create();
        int rounds = 1_000;
        Closer closer = new Closer();
        closer.start();
        SplittableRandom random = new SplittableRandom(1);
        long around = 0;
        for (int i = 0; i < rounds; i++) {
            long before = TaskClock.cpuNanos();
            CpuSection section = account.enter();
            closer.pending.set(section);
            CpuLoad.burnUser(random.nextInt(500));
            section.close();
            around += TaskClock.cpuNanos() - before;
            closer.await();
        }
        closer.end();
        CpuUsage usage = account.now();
        assertThat(usage.cpuNanos()).isBetween(1L, around + rounds * 2_000L);
        assertThat(usage.closedElsewhere()).isEqualTo(rounds);
        assertThat(usage.closedTwice() + usage.unclosed() + usage.uncounted()).isZero();
    }

    @Test
    void shouldRunTheCallbackOnceIfManyThreadsReachTheLimit() throws InterruptedException {
        CpuAccount account = CpuAccount.create();
        AtomicInteger calls = new AtomicInteger();
        account.limit(20_000_000, calls::incrementAndGet);
        CpuLoad.runOnThreads(16, () -> {
            while (!account.isOverLimit()) {
                try (var section = account.enter()) {
                    CpuLoad.burnUser(WORK_ROUNDS);
                }
            }
            account.check();
        });
        assertThat(calls).hasValue(1);
        assertThat(account.cpuNanos()).isBetween(20_000_000L, 60_000_000L);
    }

    @Test
    void shouldReleaseUnusedAccounts() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(2);
        CountDownLatch end = new CountDownLatch(1);
        List<WeakReference<CpuAccount>> accounts = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Thread thread = new Thread(() -> {
                List<WeakReference<CpuAccount>> own = new ArrayList<>();
                for (int j = 0; j < 1_000; j++) own.add(use(CpuAccount.create(), new byte[100_000]));
                synchronized (accounts) {
                    accounts.addAll(own);
                }
                entered.countDown();
                awaitQuietly(end);
            });
            thread.start();
        }
        entered.await();
        long limit = System.nanoTime() + 30_000_000_000L;
        while (System.nanoTime() < limit && accounts.stream().anyMatch(each -> each.get() != null)) System.gc();
        assertThat(accounts).hasSize(2_000).allMatch(each -> each.get() == null);
        end.countDown();
    }

    /** Uses an account whose limit callback refers to a query. */
    private static WeakReference<CpuAccount> use(CpuAccount account, byte[] query) {
        account.limit(Long.MAX_VALUE, () -> query[0]++);
        try (var section = account.enter()) {
            CpuLoad.burnUser(1);
        }
        return new WeakReference<>(account);
    }

    private static void awaitQuietly(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldReleaseThreadsThatHaveEnded() throws InterruptedException {
        CpuAccount account = CpuAccount.create();
        List<WeakReference<Thread>> threads = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            Thread thread = new Thread(() -> account.enter().close());
            threads.add(new WeakReference<>(thread));
            thread.start();
            thread.join();
        }
        // Nothing has read the account, so the new threads must have removed the old ones.
        System.gc();
        assertThat(threads.stream().filter(each -> each.get() != null).count()).isLessThan(200);
        assertThat(account.cpuNanos()).isPositive();
    }

    @Test
    void shouldAddUpToTheCpuTimeOfTheProcess() {
        // The CPU time of a compiler thread that ended would be missing.
        List<String> options = List.of("-XX:-UseDynamicNumberOfCompilerThreads");
        ChildJvm child = ChildJvm.run(options, ConcurrentQueries.class).succeeded();
        assertThat(child.out()).contains("of the process's CPU time");
    }
}
