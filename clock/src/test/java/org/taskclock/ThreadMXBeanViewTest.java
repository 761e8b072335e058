// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Tests the ThreadMXBean that reads times from the clock and forwards all other calls to the platform's bean. */
@SuppressWarnings("deprecation") // Thread.threadId() requires JDK 19
class ThreadMXBeanViewTest {
    private static final long NO_SUCH_ID = Long.MAX_VALUE;
    /** The resolution of the user time in /proc, which JDKs up to 25 return. */
    private static final long PROC_UNIT_NANOS = 10_000_000;

    private final ThreadMXBean view = TaskClock.threadMXBean();
    private final ThreadMXBean platform = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final long ownId = Thread.currentThread().getId();

    @Test
    void shouldBeASingleton() {
        assertThat(TaskClock.threadMXBean()).isSameAs(view);
    }

    @Test
    void shouldForwardEveryMethodToThePlatform() throws Exception {
        List<String> calls = new ArrayList<>();
        Object recorder = Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {ThreadMXBean.class}, (proxy, method, arguments) -> {
                    calls.add(method + Arrays.deepToString(arguments));
                    return defaultValue(method.getReturnType());
                });
        Constructor<ClockThreadMXBean> constructor = ClockThreadMXBean.class.getDeclaredConstructor(ThreadMXBean.class);
        constructor.setAccessible(true);
        ThreadMXBean forwarding = constructor.newInstance(recorder);
        for (Method method : ThreadMXBean.class.getMethods()) {
            Object[] arguments = Arrays.stream(method.getParameterTypes())
                    .map(type -> type == long.class ? (Object) 42L : defaultValue(type))
                    .toArray();
            calls.clear();
            // A default method that the view does not override would not reach the platform's own.
            ClockThreadMXBean.class
                    .getDeclaredMethod(method.getName(), method.getParameterTypes())
                    .invoke(forwarding, arguments);
            // The view may first ask whether timing is enabled. The recorder returns false, so the view does not use
            // the clock.
            assertThat(calls).contains(method + Arrays.deepToString(arguments.length == 0 ? null : arguments));
        }
    }

    /** Returns false, 0, an empty array, or null. */
    private static Object defaultValue(Class<?> type) {
        if (type == void.class) return null;
        if (type.isArray()) return Array.newInstance(type.getComponentType(), 0);
        return type.isPrimitive() ? Array.get(Array.newInstance(type, 1), 0) : null;
    }

    @Test
    void shouldUseTheClockForTheCallingThread() {
        assumeClock();
        for (int round = 0; round < 1000; round++) {
            CpuTime before = TaskClock.now();
            long[] cpus = {
                view.getCurrentThreadCpuTime(),
                view.getThreadCpuTime(ownId),
                view.getThreadCpuTime(new long[] {NO_SUCH_ID, ownId})[1]
            };
            long[] users = {
                view.getCurrentThreadUserTime(),
                view.getThreadUserTime(ownId),
                view.getThreadUserTime(new long[] {NO_SUCH_ID, ownId})[1]
            };
            CpuTime after = TaskClock.now();
            for (long cpu : cpus) assertThat(cpu).isBetween(before.cpuNanos(), after.cpuNanos());
            for (long user : users) assertThat(user).isBetween(before.userNanos(), after.userNanos());
            assertThat(cpus).isSorted();
            assertThat(users).isSorted();
        }
    }

    @Test
    void shouldReturnUserTimeWithAHigherResolutionThanProc() throws InterruptedException {
        assumeClock();
        List<Function<ThreadMXBean, Long>> methods = List.of(
                ThreadMXBean::getCurrentThreadUserTime,
                bean -> bean.getThreadUserTime(Thread.currentThread().getId()),
                bean -> bean.getThreadUserTime(
                                new long[] {Thread.currentThread().getId()})[0]);
        for (Function<ThreadMXBean, Long> method : methods) {
            // /proc would give five values.
            assertThat(countDistinctValues(view, method)).isGreaterThan(20);
        }
    }

    /**
     * Counts the distinct values while four units of /proc elapse. Uses a new thread that spends almost only user time:
     * if a thread has first spent mostly user time and then spends mostly system time, the user time that the kernel
     * reports does not grow.
     */
    private static long countDistinctValues(ThreadMXBean bean, Function<ThreadMXBean, Long> method)
            throws InterruptedException {
        List<Long> values = new ArrayList<>();
        CpuLoad.runOnThreads(1, () -> {
            long end = TaskClock.cpuNanos() + 4 * PROC_UNIT_NANOS;
            while (TaskClock.cpuNanos() < end) {
                values.add(method.apply(bean));
                CpuLoad.burnUser(100_000);
            }
        });
        return values.stream().distinct().count();
    }

    @Test
    void shouldMatchThePlatformForOtherThreads() throws InterruptedException {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            running.countDown();
            while (end.getCount() > 0) Thread.onSpinWait();
        });
        thread.start();
        running.await();
        long id = thread.getId();
        long[] ids = {id};
        assertBetween(platform.getThreadCpuTime(id), view.getThreadCpuTime(id), platform.getThreadCpuTime(id));
        assertBetween(platform.getThreadUserTime(id), view.getThreadUserTime(id), platform.getThreadUserTime(id));
        assertBetween(platform.getThreadCpuTime(id), view.getThreadCpuTime(ids)[0], platform.getThreadCpuTime(id));
        assertBetween(platform.getThreadUserTime(id), view.getThreadUserTime(ids)[0], platform.getThreadUserTime(id));
        end.countDown();
        thread.join();
        assertThat(view.getThreadCpuTime(id)).isEqualTo(-1);
        assertThat(view.getThreadUserTime(id)).isEqualTo(-1);
        assertThat(view.getThreadCpuTime(ids)).containsExactly(-1);
        assertThat(view.getThreadUserTime(ids)).containsExactly(-1);
    }

    private static void assertBetween(long low, long value, long high) {
        assertThat(value).isBetween(low, high);
    }

    @Test
    void shouldAcceptArraysLikeThePlatform() {
        assertThat(view.getThreadCpuTime(new long[0])).isEmpty();
        assertThat(view.getThreadUserTime(new long[0])).isEmpty();
        long[] ids = {NO_SUCH_ID, ownId, NO_SUCH_ID};
        assertThat(view.getThreadCpuTime(ids)).hasSize(3).startsWith(-1).endsWith(-1);
        assertThat(view.getThreadCpuTime(ids)[1]).isPositive();
        assertThat(ids).containsExactly(NO_SUCH_ID, ownId, NO_SUCH_ID);
    }

    @Test
    void shouldRejectWhatThePlatformRejects() {
        for (long id : new long[] {0, -1, Long.MIN_VALUE}) {
            long[] ids = {ownId, id};
            assertThatThrownBy(() -> view.getThreadCpuTime(id)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> view.getThreadUserTime(id)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> view.getThreadCpuTime(ids)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> view.getThreadUserTime(ids)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> view.getThreadCpuTime(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> view.getThreadUserTime(null)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void shouldStoreOneReadingForAnIdThatOccursTwice() {
        assumeClock();
        long[] ids = {ownId, NO_SUCH_ID, ownId, ownId};
        for (int round = 0; round < 1000; round++) {
            long[] cpus = view.getThreadCpuTime(ids);
            assertThat(cpus).containsExactly(cpus[0], -1, cpus[0], cpus[0]);
            long[] users = view.getThreadUserTime(ids);
            assertThat(users).containsExactly(users[0], -1, users[0], users[0]);
        }
    }

    @Test
    void shouldReturnMinusOneIfTimingIsDisabled() {
        view.setThreadCpuTimeEnabled(false);
        try {
            assertThat(platform.isThreadCpuTimeEnabled()).isFalse();
            assertThat(view.isThreadCpuTimeEnabled()).isFalse();
            assertThat(view.getCurrentThreadCpuTime()).isEqualTo(-1);
            assertThat(view.getCurrentThreadUserTime()).isEqualTo(-1);
            assertThat(view.getThreadCpuTime(ownId)).isEqualTo(-1);
            assertThat(view.getThreadUserTime(ownId)).isEqualTo(-1);
            assertThat(view.getThreadCpuTime(new long[] {ownId})).containsExactly(-1);
            assertThat(view.getThreadUserTime(new long[] {ownId})).containsExactly(-1);
        } finally {
            platform.setThreadCpuTimeEnabled(true);
        }
        assertThat(view.getCurrentThreadCpuTime()).isPositive();
    }

    @Test
    void shouldMatchThePlatformOnAVirtualThread() throws InterruptedException {
        assumeTrue(VirtualThreadRunner.isSupported(), "this JDK has no virtual threads");
        List<Function<ThreadMXBean, Object>> methods = List.of(
                ThreadMXBean::getCurrentThreadCpuTime,
                ThreadMXBean::getCurrentThreadUserTime,
                bean -> bean.getThreadCpuTime(Thread.currentThread().getId()),
                bean -> bean.getThreadUserTime(Thread.currentThread().getId()),
                bean -> bean.getThreadCpuTime(new long[] {Thread.currentThread().getId()})[0],
                bean -> bean.getThreadUserTime(
                                new long[] {Thread.currentThread().getId()})[0]);
        VirtualThreadRunner.run(() -> {
            for (Function<ThreadMXBean, Object> method : methods)
                assertThat(outcome(method, view)).isEqualTo(outcome(method, platform));
        });
    }

    private static Object outcome(Function<ThreadMXBean, Object> method, ThreadMXBean bean) {
        Object[] value = new Object[1];
        Throwable thrown = catchThrowable(() -> value[0] = method.apply(bean));
        return thrown == null ? value[0] : thrown.getClass();
    }

    private static void assumeClock() {
        assumeTrue(TaskClock.isNative(), "without the native library the view uses the platform's bean");
    }
}
