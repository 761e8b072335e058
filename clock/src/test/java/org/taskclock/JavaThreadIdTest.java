// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.taskclock.internal.JdkVersions;

/** Tests that a thread whose class overrides getId is not taken for another thread. */
@SuppressWarnings("deprecation") // Thread.threadId() requires JDK 19
class JavaThreadIdTest {
    private static final boolean KNOWS_IDS = Runtime.version().feature() >= JdkVersions.THREAD_ID;
    private static final long BUSY_NANOS = 300_000_000;
    private static final int BUSY_BYTES = 200_000_000;
    private static final int CHUNK = 1_000_000;
    /** Much more than the impostor uses, and less than the busy thread has used. */
    private static final long LIMIT_NANOS = BUSY_NANOS / 2;

    /** Keeps the compiler from removing the allocations. */
    @SuppressWarnings("unused")
    private volatile byte[] garbage;

    private final ThreadMXBean view = TaskClock.threadMXBean();
    private final CountDownLatch end = new CountDownLatch(1);
    private final CountDownLatch isBusyDone = new CountDownLatch(1);
    private final Thread busy = new Thread(() -> {
        for (int i = 0; i < BUSY_BYTES / CHUNK; i++) garbage = new byte[CHUNK];
        while (SystemCalls.threadCpuNanos() < BUSY_NANOS) CpuLoad.burnUser(100_000);
        isBusyDone.countDown();
        await(end);
    });

    /** A thread that claims to be another one. */
    private static final class Impostor extends Thread {
        private final long claimedId;

        Impostor(long claimedId, Runnable body) {
            super(body);
            this.claimedId = claimedId;
        }

        @Override
        public long getId() {
            return claimedId;
        }
    }

    @BeforeEach
    void startBusyThread() {
        busy.start();
        await(isBusyDone);
    }

    @AfterEach
    void endThreads() throws InterruptedException {
        end.countDown();
        busy.join();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldReadTheOtherThreadByItsId() throws InterruptedException {
        assumeTrue(TaskClock.isNative(), "without the native library the view uses the platform's bean");
        runAs(busy.getId(), () -> {
            long id = busy.getId();
            // JDK 17 itself takes the caller for the other thread if there is only one id.
            if (KNOWS_IDS) {
                assertThat(view.getThreadCpuTime(id)).isGreaterThanOrEqualTo(BUSY_NANOS);
                assertThat(view.getThreadUserTime(id)).isGreaterThan(LIMIT_NANOS);
            }
            assertThat(view.getThreadCpuTime(new long[] {id, id})[1]).isGreaterThanOrEqualTo(BUSY_NANOS);
            assertThat(view.getThreadUserTime(new long[] {id, id})[1]).isGreaterThan(LIMIT_NANOS);
            assertThat(view.getCurrentThreadCpuTime()).isLessThan(LIMIT_NANOS);
        });
    }

    @Test
    void shouldRejectAnInvalidIdOnSuchAThread() throws InterruptedException {
        for (long claimedId : new long[] {busy.getId(), -1}) {
            runAs(claimedId, () -> {
                for (long id : new long[] {-1, 0}) {
                    assertThatThrownBy(() -> view.getThreadCpuTime(id)).isInstanceOf(IllegalArgumentException.class);
                    assertThatThrownBy(() -> view.getThreadUserTime(id)).isInstanceOf(IllegalArgumentException.class);
                }
            });
        }
    }

    /** Another thread reads the impostor: its own figures if they can be found, never those of the busy thread. */
    @Test
    void shouldNotReadTheOtherThreadInstead() throws InterruptedException {
        CountDownLatch isRunning = new CountDownLatch(1);
        Thread impostor = new Impostor(busy.getId(), () -> {
            isRunning.countDown();
            await(end);
        });
        impostor.start();
        await(isRunning);
        assertOwn(MxbeanClock.cpuNanos(impostor), LIMIT_NANOS);
        long[] last = new long[2];
        assertThat(MxbeanClock.read(impostor, last)).isEqualTo(KNOWS_IDS);
        assertThat(last[0]).isLessThan(LIMIT_NANOS);
        assertOwn(AllocatedBytes.of(impostor), BUSY_BYTES);
        end.countDown();
        impostor.join();
    }

    private static void assertOwn(long value, long limit) {
        if (KNOWS_IDS) assertThat(value).isBetween(0L, limit);
        else assertThat(value).isEqualTo(-1);
    }

    private static void runAs(long claimedId, Runnable body) throws InterruptedException {
        Throwable[] failure = new Throwable[1];
        Thread thread = new Impostor(claimedId, body);
        thread.setUncaughtExceptionHandler((failed, e) -> failure[0] = e);
        thread.start();
        thread.join();
        if (failure[0] != null) throw new AssertionError(failure[0]);
    }
}
