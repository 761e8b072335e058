// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class ThreadSnapshotTest {
    private static final long REMOVAL_LIMIT_NANOS = 10_000_000_000L;

    private final int[] tids = new int[8_192];
    private final long[] cpus = new long[8_192];
    private final long[] users = new long[8_192];
    private final long[] systems = new long[8_192];

    @Test
    void shouldFindEveryThreadWithItsOwnTime() throws InterruptedException {
        int count = 2_000;
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch ready = new CountDownLatch(count);
        List<Thread> threads = new ArrayList<>();
        List<Integer> parkedTids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int rounds = i * 50;
            threads.add(new Thread(null, () -> park(rounds, parkedTids, ready, release), "parked", 64 * 1024));
        }
        for (Thread thread : threads) thread.start();
        ready.await();

        ThreadSnapshot snapshot = new ThreadSnapshot();
        snapshot.read(tids, cpus, users, systems);
        // The threads still use some CPU time until they sleep, so each result must be between two readings of the
        // kernel's clock.
        Map<Integer, Long> before = new HashMap<>();
        for (int tid : parkedTids)
            before.put(tid, ClockId.thread(tid, ClockId.Kind.SCHED).nanos());
        int found = snapshot.read(tids, cpus, users, systems);
        assertThat(found).isGreaterThan(count);
        Map<Integer, Integer> rowOf = new HashMap<>();
        for (int i = 0; i < found; i++)
            assertThat(rowOf.put(tids[i], i)).as("listed twice").isNull();
        assertThat(rowOf).containsKeys(parkedTids.toArray(Integer[]::new));
        for (int tid : parkedTids) {
            int row = rowOf.get(tid);
            assertThat(cpus[row])
                    .isBetween(
                            before.get(tid),
                            ClockId.thread(tid, ClockId.Kind.SCHED).nanos());
            assertThat(users[row] + systems[row]).isEqualTo(cpus[row]);
        }
        release.countDown();
        for (Thread thread : threads) thread.join();
        // The kernel lists a thread slightly longer than Java does.
        long limit = System.nanoTime() + REMOVAL_LIMIT_NANOS;
        int remaining = found;
        while (remaining >= found - count / 2 && System.nanoTime() < limit) {
            remaining = snapshot.read(tids, cpus, users, systems);
        }
        assertThat(remaining).isLessThan(found - count / 2);
    }

    private static void park(int rounds, List<Integer> tids, CountDownLatch ready, CountDownLatch release) {
        CpuLoad.burnUser(rounds);
        synchronized (tids) {
            tids.add(SystemCalls.gettid());
        }
        ready.countDown();
        try {
            release.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldNeverDecreaseWhileThreadsStartAndEnd() throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        Thread churn = startAndEndThreads(done, () -> CpuLoad.burnUser(20_000));
        Thread worker = new Thread(() -> {
            while (!done.get()) {
                CpuLoad.burnUser(100_000);
                CpuLoad.burnSystem(10);
            }
        });
        worker.start();
        int workerTid = ThreadClock.of(worker).tid();
        int churnTid = ThreadClock.of(churn).tid();
        assertThat(workerTid).isPositive();

        ThreadSnapshot snapshot = new ThreadSnapshot();
        Map<Integer, CpuTime> last = new HashMap<>();
        long end = System.nanoTime() + 1_500_000_000L;
        for (int round = 0; System.nanoTime() < end; round++) {
            int found = snapshot.read(tids, cpus, users, systems);
            Map<Integer, CpuTime> now = new HashMap<>();
            for (int i = 0; i < found; i++) {
                CpuTime time = new CpuTime(cpus[i], users[i], systems[i]);
                assertThat(users[i] + systems[i]).isEqualTo(cpus[i]);
                assertThat(users[i]).isBetween(0L, cpus[i]);
                CpuTime before = last.get(tids[i]);
                // A smaller time means that another thread has reused the tid.
                if (before != null && before.cpuNanos() <= time.cpuNanos()) {
                    assertThat(time.minus(before).userNanos()).isNotNegative();
                    assertThat(time.minus(before).systemNanos()).isNotNegative();
                }
                now.put(tids[i], time);
            }
            // The two long-running threads must be found each time.
            assertThat(now).as("round " + round).containsKeys(workerTid, churnTid);
            last = now;
        }
        ProcStat text = ProcStat.ofThread(workerTid);
        long tolerance = 10_000_000 + 6 * TaskClock.status().tickNanos();
        assertThat(last.get(workerTid).userNanos())
                .isBetween(text.userNanos() - tolerance, text.userNanos() + tolerance);
        done.set(true);
        churn.join();
        worker.join();
    }

    /**
     * A reading that does not list the threads must nevertheless see that one has ended and another one started, and
     * one that lists them must find those that the kernel skips because others end.
     */
    @Test
    void shouldFindThreadsThatReplaceOthers() throws InterruptedException {
        AtomicBoolean done = new AtomicBoolean();
        Thread churn = startAndEndThreads(done, () -> {});
        ThreadSnapshot snapshot = new ThreadSnapshot();
        for (int round = 0; round < 2000; round++) {
            CountDownLatch end = new CountDownLatch(1);
            Thread thread = new Thread(() -> await(end));
            thread.start();
            ThreadClock clock = ThreadClock.of(thread);
            int tid = clock.tid();
            assertThat(tidsOf(round % 2 == 0 ? snapshot.read(tids, cpus) : snapshot.read(tids, cpus, users, systems)))
                    .contains(tid);
            end.countDown();
            thread.join();
            while (clock.tid() > 0) Thread.onSpinWait();
        }
        done.set(true);
        churn.join();
    }

    private static Thread startAndEndThreads(AtomicBoolean done, Runnable work) {
        Thread churn = new Thread(() -> {
            while (!done.get()) {
                Thread shortLived = new Thread(work);
                shortLived.start();
                try {
                    shortLived.join();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        });
        churn.start();
        return churn;
    }

    private List<Integer> tidsOf(int count) {
        return Arrays.stream(tids, 0, count).boxed().toList();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldKnowTheNumberOfThreads() {
        // Threads of the JVM may start or end in one attempt, but not in all.
        boolean isEqual = false;
        for (int i = 0; i < 100 && !isEqual; i++)
            isEqual = Library.threadCount() == Library.tids(tids) && Library.threadCount() > 0;
        assertThat(isEqual).isTrue();
    }

    /** Readings without the split must not disturb those with it. */
    @Test
    void shouldSplitTheTimeOfAllReadingsSinceTheLastSplit() {
        ThreadSnapshot mixed = new ThreadSnapshot();
        int self = KernelReaders.tid();
        CpuTime first = timeOf(self, mixed.read(tids, cpus, users, systems));
        long cpu = first.cpuNanos();
        for (int i = 0; i < 50; i++) {
            CpuLoad.burnUser(100_000);
            int count = mixed.read(tids, cpus);
            long now = cpus[tidsOf(count).indexOf(self)];
            assertThat(now).isGreaterThan(cpu);
            cpu = now;
        }
        CpuTime last = timeOf(self, mixed.read(tids, cpus, users, systems));
        assertThat(last.cpuNanos()).isGreaterThanOrEqualTo(cpu);
        assertThat(last.minus(first).userNanos())
                .isGreaterThan(last.minus(first).cpuNanos() / 2);
    }

    private CpuTime timeOf(int tid, int count) {
        int row = tidsOf(count).indexOf(tid);
        return new CpuTime(cpus[row], users[row], systems[row]);
    }

    @Test
    void shouldCountThreadsBeyondTheLengthOfTheArray() {
        ThreadSnapshot snapshot = new ThreadSnapshot();
        int[] oneTid = new int[1];
        long[] empty = new long[0];
        int found = snapshot.read(oneTid, empty, empty, empty);
        assertThat(found).isGreaterThan(1);
        assertThat((long) oneTid[0])
                .as("the oldest thread")
                .isEqualTo(ProcessHandle.current().pid());
    }

    @Test
    void shouldNotAllocateOnceItHasGrown() {
        ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        ThreadSnapshot snapshot = new ThreadSnapshot();
        // The snapshot also grows if the JVM starts a thread, for example to compile, but not in all ten attempts.
        long min = Long.MAX_VALUE;
        for (int i = 0; i < 10; i++) {
            long before = bean.getCurrentThreadAllocatedBytes();
            for (int k = 0; k < 20; k++) snapshot.read(tids, cpus, users, systems);
            min = Math.min(min, bean.getCurrentThreadAllocatedBytes() - before);
        }
        // getCurrentThreadAllocatedBytes may itself allocate, but far less than the rows of a snapshot.
        assertThat(min).isLessThan(256);
    }
}
