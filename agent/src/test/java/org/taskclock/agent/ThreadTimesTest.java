// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.internal.JdkVersions;

/** Runs programs that use ThreadMXBean with the agent. */
class ThreadTimesTest {
    private static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void shouldAnswerFromTheClock() throws IOException, InterruptedException {
        JvmLauncher.withAgent("").run(FromTheClock.class).assertSilent();
    }

    /** Recognizes the clock by its values: the JVM's own user times have a resolution of 10 ms or of a tick. */
    static final class FromTheClock {
        public static void main(String[] args) throws Exception {
            assertThat(System.getProperty("taskclock.agent"))
                    .contains("threadmxbean=on")
                    .doesNotContain("unavailable");
            long id = Thread.currentThread().getId();
            long cpu = BEAN.getCurrentThreadCpuTime();
            long user = BEAN.getCurrentThreadUserTime();
            int fine = 0;
            for (int i = 0; i < 1_000_000; i++) {
                // A later answer is never lower, in any order of the two times and with any method.
                long u = i % 2 == 0 ? BEAN.getCurrentThreadUserTime() : BEAN.getThreadUserTime(id);
                long c = i % 3 == 0 ? BEAN.getCurrentThreadCpuTime() : BEAN.getThreadCpuTime(id);
                long v = i % 2 == 1 ? BEAN.getCurrentThreadUserTime() : BEAN.getThreadUserTime(id);
                assertThat(u).isBetween(user, c);
                assertThat(c).isGreaterThanOrEqualTo(cpu);
                assertThat(v - c).as("user after cpu").isLessThanOrEqualTo(BEAN.getCurrentThreadCpuTime() - c);
                if (v % 1_000_000 != 0) fine++;
                cpu = c;
                user = v;
            }
            assertThat(fine).isGreaterThan(900_000);

            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName threading = new ObjectName(ManagementFactory.THREAD_MXBEAN_NAME);
            long before = BEAN.getCurrentThreadUserTime();
            long attribute = (long) server.getAttribute(threading, "CurrentThreadUserTime");
            assertThat(attribute).isBetween(before, BEAN.getCurrentThreadUserTime());
            Object[] own = {id};
            String[] signature = {"long"};
            long byId = (long) server.invoke(threading, "getThreadUserTime", own, signature);
            assertThat(byId).isBetween(attribute, BEAN.getCurrentThreadUserTime());
        }
    }

    @Test
    void shouldNotChangeOtherBehavior() throws IOException, InterruptedException {
        JvmLauncher.withAgent("").run(OtherBehavior.class).assertSilent();
        // The JDK without the agent must pass the same assertions.
        JvmLauncher.withoutAgent().run(OtherBehavior.class).assertSilent();
    }

    static final class OtherBehavior {
        public static void main(String[] args) throws Exception {
            Thread ended = new Thread(() -> {});
            ended.start();
            ended.join();
            long[] ids = {Thread.currentThread().getId(), ended.getId(), 1L << 40};
            for (long id : new long[] {ended.getId(), 1L << 40}) {
                assertThat(BEAN.getThreadCpuTime(id)).isEqualTo(-1);
                assertThat(BEAN.getThreadUserTime(id)).isEqualTo(-1);
            }
            assertThat(BEAN.getThreadCpuTime(ids)).containsSequence(-1, -1).hasSize(3);
            assertThat(BEAN.getThreadUserTime(ids)).containsSequence(-1, -1).hasSize(3);
            assertThat(BEAN.getThreadUserTime(new long[0])).isEmpty();
            for (long id : new long[] {0, -1}) {
                assertThatThrownBy(() -> BEAN.getThreadCpuTime(id)).isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> BEAN.getThreadUserTime(new long[] {1, id}))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            BEAN.setThreadCpuTimeEnabled(false);
            assertThat(BEAN.getCurrentThreadCpuTime()).isEqualTo(-1);
            assertThat(BEAN.getThreadUserTime(Thread.currentThread().getId())).isEqualTo(-1);
            assertThat(BEAN.getThreadUserTime(ids)).containsOnly(-1);
            BEAN.setThreadCpuTimeEnabled(true);
            assertThat(BEAN.getCurrentThreadCpuTime()).isPositive();
            if (JvmLauncher.feature() >= JdkVersions.VIRTUAL_THREADS) onVirtualThread();
        }

        private static void onVirtualThread() throws InterruptedException {
            long[] read = new long[4];
            VirtualThreadStarter.start("", () -> {
                        long id = Thread.currentThread().getId();
                        read[0] = BEAN.getCurrentThreadCpuTime();
                        read[1] = BEAN.getCurrentThreadUserTime();
                        read[2] = BEAN.getThreadCpuTime(id);
                        read[3] = BEAN.getThreadUserTime(id);
                    })
                    .join();
            assertThat(read).containsOnly(-1);
        }
    }

    @Test
    void shouldReadOtherThreads() throws IOException, InterruptedException {
        JvmLauncher.withAgent("").run(OtherThreads.class).assertSilent();
    }

    static final class OtherThreads {
        public static void main(String[] args) throws Exception {
            CountDownLatch parked = new CountDownLatch(1);
            Thread spinner = new Thread(() -> {
                while (BEAN.getCurrentThreadCpuTime() < 300_000_000) Thread.onSpinWait();
            });
            Thread sleeper = new Thread(() -> {
                try {
                    parked.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            spinner.start();
            sleeper.setDaemon(true);
            sleeper.start();
            long[] ids = {
                spinner.getId(), sleeper.getId(), Thread.currentThread().getId()
            };
            long[] last = {0, 0, 0};
            while (spinner.isAlive()) {
                long[] users = BEAN.getThreadUserTime(ids);
                for (int i = 0; i < ids.length; i++) {
                    if (users[i] == -1) continue; // not started yet, or ended
                    assertThat(users[i]).isGreaterThanOrEqualTo(last[i]);
                    last[i] = users[i];
                }
                long user = BEAN.getThreadUserTime(ids[0]);
                if (user != -1) assertThat(user).isGreaterThanOrEqualTo(last[0]);
                last[0] = Math.max(last[0], user);
                long cpu = BEAN.getThreadCpuTime(ids[0]);
                if (cpu != -1 && ThreadTimes.isTextInThisJdk()) assertThat(cpu).isGreaterThanOrEqualTo(last[0]);
            }
            assertThat(last[0]).isGreaterThan(50_000_000);
            assertThat(BEAN.getThreadUserTime(ids[0])).isEqualTo(-1);
            assertThat(last[1]).isLessThan(100_000_000);
            parked.countDown();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"threadmxbean=off", "threadmxbean=off,yield=count,bean=off,jfr=off"})
    void shouldLeaveThreadMXBeanAloneIfSwitchedOff(String options) throws IOException, InterruptedException {
        JvmLauncher.withAgent(options).run(StockTimes.class).assertSilent();
    }

    static final class StockTimes {
        public static void main(String[] args) {
            assertThat(System.getProperty("taskclock.agent")).contains("threadmxbean=off");
            long user = BEAN.getCurrentThreadUserTime();
            // With a resolution of 10 ms or of a tick, many calls in a row return the same value.
            int unchanged = 0;
            for (int i = 0; i < 1_000; i++)
                if (BEAN.getCurrentThreadUserTime() == user) unchanged++;
                else user = BEAN.getCurrentThreadUserTime();
            assertThat(unchanged).isGreaterThan(500);
        }
    }
}
