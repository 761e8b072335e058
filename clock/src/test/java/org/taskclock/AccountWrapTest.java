// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Tests that wrapped tasks, executors, and threads are counted. */
class AccountWrapTest {
    private static final long WORK_NANOS = 5_000_000;

    private final CpuAccount account = CpuAccount.create();
    private final AtomicLong used = new AtomicLong();

    private void work() {
        long start = TaskClock.cpuNanos();
        while (TaskClock.cpuNanos() < start + WORK_NANOS) CpuLoad.burnUser(1_000);
        used.addAndGet(TaskClock.cpuNanos() - start);
    }

    private String workAndReturn() {
        work();
        return "result";
    }

    /** The code around the work is counted too, but takes little time. */
    private void assertCounted(int calls) {
        assertThat(used.get()).isGreaterThanOrEqualTo(calls * WORK_NANOS);
        assertThat(account.cpuNanos()).isBetween(used.get(), used.get() + calls * WORK_NANOS / 2 + WORK_NANOS);
        assertThat(account.now().isComplete()).isTrue();
    }

    @Test
    void shouldCountARunnable() {
        Runnable task = account.wrap(this::work);
        assertThat(account.cpuNanos()).isZero();
        task.run();
        task.run();
        assertCounted(2);
    }

    @Test
    void shouldCountACallable() throws Exception {
        Callable<String> task = account.wrap(this::workAndReturn);
        assertThat(task.call()).isEqualTo("result");
        assertCounted(1);
    }

    @Test
    void shouldCountATaskThatThrows() {
        Runnable task = account.wrap((Runnable) () -> {
            work();
            throw new IllegalStateException("thrown");
        });
        assertThatThrownBy(task::run).hasMessage("thrown");
        assertCounted(1);
        work();
        assertThat(account.cpuNanos()).isLessThan(used.get());
    }

    @Test
    void shouldCountEveryTaskOfAnExecutor() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        ExecutorService counted = account.wrap(pool);
        counted.submit(this::work).get();
        assertThat(counted.submit(this::workAndReturn).get()).isEqualTo("result");
        assertThat(counted.submit(this::work, "given").get()).isEqualTo("given");
        List<Callable<String>> two = List.of(this::workAndReturn, this::workAndReturn);
        assertThat(counted.invokeAll(two)).hasSize(2);
        assertThat(counted.invokeAll(two, 1, TimeUnit.MINUTES)).hasSize(2);
        List<Callable<String>> one = List.of(this::workAndReturn);
        assertThat(counted.invokeAny(one)).isEqualTo("result");
        assertThat(counted.invokeAny(one, 1, TimeUnit.MINUTES)).isEqualTo("result");
        CompletableFuture.runAsync(this::work, counted).get();
        counted.execute(this::work);
        long before = account.cpuNanos();
        pool.submit((Runnable) () -> CpuLoad.burnUser(1_000_000)).get();
        assertThat(pool.isShutdown()).isFalse();
        counted.shutdown();
        assertThat(counted.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        assertThat(counted.isShutdown()).isTrue();
        assertThat(counted.isTerminated()).isTrue();
        assertThat(pool.isTerminated()).isTrue();
        assertThat(counted.shutdownNow()).isEmpty();
        assertThat(before).isPositive();
        assertCounted(11);
    }

    @Test
    void shouldCountNestedTasksOnce() throws Exception {
        ForkJoinPool pool = new ForkJoinPool(2);
        ExecutorService counted = account.wrap((ExecutorService) pool);
        Runnable task = () -> {
            // join() may run the other task inside this one.
            pool.submit(account.wrap(this::work)).join();
            work();
        };
        counted.submit(task).get();
        counted.shutdown();
        assertThat(pool.awaitQuiescence(1, TimeUnit.MINUTES)).isTrue();
        assertCounted(2);
    }

    @Test
    void shouldCountThreadsOfAFactory() throws InterruptedException {
        Thread thread = account.wrap(Executors.defaultThreadFactory()).newThread(this::work);
        thread.start();
        thread.join();
        assertCounted(1);
        assertThat(account.wrap((java.util.concurrent.ThreadFactory) task -> null)
                        .newThread(this::work))
                .isNull();
    }

    @Test
    @SuppressWarnings("NullAway")
    void shouldRejectNull() {
        assertThatThrownBy(() -> account.wrap((Runnable) null)).hasMessage("task");
        assertThatThrownBy(() -> account.wrap((Callable<?>) null)).hasMessage("task");
        assertThatThrownBy(() -> account.wrap((ExecutorService) null)).hasMessage("executor");
        assertThatThrownBy(() -> account.wrap((java.util.concurrent.ThreadFactory) null))
                .hasMessage("factory");
    }
}
