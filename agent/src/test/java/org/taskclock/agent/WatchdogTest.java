// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests the agent's background thread in this JVM, without the agent. */
@Execution(ExecutionMode.SAME_THREAD) // one of the tests interrupts all watchdogs
class WatchdogTest {
    private static final long TIMEOUT_SECONDS = 30;

    private final Watchdog watchdog = new Watchdog();

    @Test
    void shouldRetryAFailedTask() throws InterruptedException {
        long start = System.nanoTime();
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(1);
        watchdog.submit(() -> {
            if (runs.incrementAndGet() < 3) throw new OutOfMemoryError("as on a full heap");
            done.countDown();
        });
        assertThat(done.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(watchdog.failures()).isEqualTo(2);
        assertThat(watchdog.lastFailure()).isEqualTo(OutOfMemoryError.class);
        assertThat(watchdog.failedAt()).isBetween(start, System.nanoTime());
    }

    @Test
    void shouldGiveUpATaskAfterThreeAttemptsAndRunOthers() throws InterruptedException {
        AtomicInteger runs = new AtomicInteger();
        Semaphore checks = new Semaphore(0);
        watchdog.watch(() -> {
            checks.release();
            return true;
        });
        watchdog.submit(() -> {
            runs.incrementAndGet();
            throw new IllegalStateException("always");
        });
        assertThat(checks.tryAcquire(5, TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(runs).hasValue(3);
        CountDownLatch other = new CountDownLatch(1);
        watchdog.submit(other::countDown);
        assertThat(other.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldSurviveAnInterruptAndAFailedCheck() throws InterruptedException {
        Semaphore checks = new Semaphore(0);
        watchdog.watch(() -> {
            throw new StackOverflowError("as on a full stack");
        });
        watchdog.watch(() -> {
            checks.release();
            return true;
        });
        assertThat(checks.tryAcquire(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        watchdogThreads().forEach(Thread::interrupt);
        checks.drainPermits();
        assertThat(checks.tryAcquire(2, TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(watchdog.failures()).isPositive();
    }

    @Test
    void shouldRunOtherTasksBeforeADeferredOne() throws InterruptedException {
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch done = new CountDownLatch(1);
        long start = System.nanoTime();
        watchdog.defer(() -> {
            order.add("deferred");
            done.countDown();
        });
        watchdog.submit(() -> order.add("submitted"));
        assertThat(done.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(order).containsExactly("submitted", "deferred");
        assertThat(System.nanoTime() - start).isGreaterThan(190_000_000);
    }

    @Test
    void shouldEndItsThreadWithTheLastCheckAndStartANewOne() throws InterruptedException {
        AtomicInteger checks = new AtomicInteger();
        CountDownLatch third = new CountDownLatch(1);
        AtomicReference<Thread> thread = new AtomicReference<>();
        watchdog.watch(() -> {
            thread.set(Thread.currentThread());
            if (checks.incrementAndGet() < 3) return true;
            third.countDown();
            return false;
        });
        assertThat(third.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        thread.get().join(TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS));
        assertThat(thread.get().isAlive()).isFalse();
        CountDownLatch done = new CountDownLatch(1);
        watchdog.submit(done::countDown);
        assertThat(done.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(checks).hasValue(3);
    }

    private static Iterable<Thread> watchdogThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("taskclock-watchdog"))
                .toList();
    }
}
