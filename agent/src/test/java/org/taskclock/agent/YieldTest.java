// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import javax.management.Attribute;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.taskclock.internal.JdkVersions;

/** Tests Thread.yield with the agent: unchanged, counted, and suppressed. */
@SuppressWarnings("ThreadPriorityCheck") // yields are under test
class YieldTest {
    @Test
    void shouldCount() throws IOException, InterruptedException {
        JvmLauncher.withAgent("yield=count").run(Counted.class).assertSilent();
    }

    static final class Counted {
        private static final int BUSY_YIELDS = 400_000;
        private static final int QUIET_YIELDS = 120_000;

        public static void main(String[] args) throws Exception {
            Thread busy = new Thread(Counted::yieldBusily, "busy-1");
            Thread quiet = new Thread(Counted::yieldQuietly, "quiet");
            busy.start();
            quiet.start();
            for (int i = 0; i < 10; i++) Thread.yield();
            busy.join();
            TaskClockMXBean bean = AgentCheck.bean();
            assertThat(yielder(bean, "main").getYields()).isEqualTo(10);
            quiet.join();
            // Ended threads are listed by name, with # for numbers.
            TaskClockMXBean.Yielder ended = yielder(bean, "busy-#");
            assertThat(ended.getYields()).isEqualTo(BUSY_YIELDS);
            assertThat(ended.getTid()).isZero();
            assertThat(ended.getYieldNanos()).isPositive();
            assertThat(ended.getYieldSwitches()).isBetween(0L, ended.getYields());
            assertThat(ended.getUserNanos() + ended.getSystemNanos()).isPositive();
            assertThat(yielder(bean, "quiet").getYields()).isEqualTo(QUIET_YIELDS);

            TaskClockMXBean.YieldSite[] sites = bean.getYieldSites();
            assertThat(sites[0].getSite()).contains("Counted.yieldBusily");
            assertThat(sites[0].getStack()).hasSizeBetween(2, 8);
            long sampled = 0;
            for (TaskClockMXBean.YieldSite site : sites) sampled += site.getYields();
            // Yields after the last sample of each thread are missing.
            assertThat(sampled).isBetween((BUSY_YIELDS + QUIET_YIELDS) / 2L, BUSY_YIELDS + QUIET_YIELDS + 10L);
        }

        private static void yieldBusily() {
            for (int i = 0; i < BUSY_YIELDS; i++) Thread.yield();
        }

        private static void yieldQuietly() {
            for (int i = 0; i < QUIET_YIELDS; i++) Thread.yield();
        }
    }

    static TaskClockMXBean.Yielder yielder(TaskClockMXBean bean, String name) {
        for (TaskClockMXBean.Yielder yielder : bean.getYielders())
            if (yielder.getName().equals(name)) return yielder;
        throw new AssertionError("no yielder " + name);
    }

    @Test
    void shouldCountVirtualThreads() throws IOException, InterruptedException {
        if (JvmLauncher.feature() < JdkVersions.VIRTUAL_THREADS) {
            // This JDK has no virtual threads, but the agent counts platform threads.
            JvmLauncher.withAgent("yield=count").run(Counted.class).assertSilent();
        } else {
            JvmLauncher.withAgent("yield=count")
                    .run(VirtualYields.class, "count")
                    .assertSilent();
            JvmLauncher.withAgent("vthreads=off,yield=count")
                    .run(VirtualYields.class, "count")
                    .assertSilent();
            JvmLauncher.withAgent("yield=off,virtual-yield=off")
                    .option(ONE_CARRIER)
                    .run(VirtualYields.class, "off")
                    .assertSilent();
        }
    }

    /** If yields did nothing, a virtual thread that waits for another one by yielding would never leave its carrier. */
    @Test
    void shouldNotSuppressYieldsOfVirtualThreadsUnlessRequested() throws IOException, InterruptedException {
        if (JvmLauncher.feature() >= JdkVersions.VIRTUAL_THREADS) {
            JvmLauncher.withAgent("yield=off")
                    .option(ONE_CARRIER)
                    .run(VirtualYields.class, "pass")
                    .assertSilent();
        } else {
            assertThat(systemShare(JvmLauncher.withAgent("yield=off"))).isLessThan(0.2);
        }
    }

    /** With more carriers, two threads take turns at a lock even if they do not yield. */
    private static final String ONE_CARRIER = "-Djdk.virtualThreadScheduler.parallelism=1";

    static final class VirtualYields {
        private static final int THREADS = 50;
        private static final int YIELDS = 2_000;

        public static void main(String[] args) throws Exception {
            List<Thread> threads = new ArrayList<>();
            int[] switches = new int[1];
            int[] last = {-1};
            for (int t = 0; t < THREADS; t++) {
                int number = t;
                threads.add(VirtualThreadStarter.start("", () -> {
                    for (int i = 0; i < YIELDS; i++) {
                        synchronized (last) {
                            if (last[0] != number) switches[0]++;
                            last[0] = number;
                        }
                        Thread.yield();
                    }
                }));
            }
            for (Thread thread : threads) thread.join();
            TaskClockMXBean bean = AgentCheck.bean();
            long counted = 0;
            for (TaskClockMXBean.Yielder yielder : bean.getYielders()) counted += yielder.getVirtualYields();
            if (args[0].equals("off")) {
                assertThat(counted).isZero();
                // Without yields, each thread runs to its end, except for other causes of switches.
                assertThat(switches[0]).isBetween(THREADS, 2 * THREADS);
            } else if (args[0].equals("pass")) {
                assertThat(bean.getYieldMode()).isEqualTo("off");
                assertThat(bean.getVirtualYieldMode()).isEqualTo("pass");
                assertThat(counted).isZero();
                assertThat(switches[0]).isBetween(THREADS * YIELDS / 4, THREADS * YIELDS);
            } else {
                assertThat(counted).isEqualTo(THREADS * YIELDS);
                long sampled = 0;
                for (long yields : bean.getVirtualYielders().values()) sampled += yields;
                assertThat(sampled).isBetween(counted / 2, counted);
                assertThat(bean.getYieldSites()[0].getSite()).contains("YieldTest$VirtualYields.");
            }
        }
    }

    @Test
    void shouldChangeTheModeWhileTheProgramRuns() throws IOException, InterruptedException {
        JvmLauncher.withAgent("").run(ModeChanges.class).assertSilent();
    }

    static final class ModeChanges {
        public static void main(String[] args) throws Exception {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName name = new ObjectName("org.taskclock:type=TaskClock");
            TaskClockMXBean bean = AgentCheck.bean();
            yieldOften(100);
            assertThat(bean.getYielders()).isEmpty();
            bean.setYieldMode("count");
            yieldOften(200);
            assertThat(yielder(bean, "main").getYields()).isEqualTo(200);
            server.setAttribute(name, new Attribute("YieldMode", "off"));
            long nanosOff = yieldOften(200_000);
            bean.setYieldMode("pass");
            long nanosPass = yieldOften(200_000);
            assertThat(yielder(bean, "main").getYields()).isEqualTo(200);
            // A call that does nothing is faster than a system call.
            assertThat(nanosOff).isLessThan(nanosPass);
            bean.setYieldMode("count");
            bean.setEnabled(false);
            assertThat(bean.getYieldMode()).isEqualTo("pass");
            assertThat(bean.getBackend()).isEqualTo("mxbean");
            bean.setEnabled(true);
            assertThat(bean.getYieldMode()).isEqualTo("count");
            yieldOften(50);
            assertThat(yielder(bean, "main").getYields()).isEqualTo(250);
        }

        private static long yieldOften(int times) {
            long start = System.nanoTime();
            for (int i = 0; i < times; i++) Thread.yield();
            return System.nanoTime() - start;
        }
    }

    /**
     * A single thread that yields spends most of its CPU time in the kernel, unless the JDK's flag or the agent
     * suppresses its yields.
     */
    @Test
    void shouldReplaceTheJdkFlag() throws IOException, InterruptedException {
        assertThat(systemShare(JvmLauncher.withoutAgent())).isGreaterThan(0.5);
        assertThat(systemShare(JvmLauncher.withAgent("yield=off"))).isLessThan(0.2);
        // JDK 24 removed the flag.
        if (JvmLauncher.feature() < JdkVersions.NO_DONT_YIELD_A_LOT)
            assertThat(systemShare(JvmLauncher.withoutAgent().option("-XX:+DontYieldALot")))
                    .isLessThan(0.2);
    }

    private static double systemShare(JvmLauncher jvm) throws IOException, InterruptedException {
        return Double.parseDouble(jvm.run(SingleThread.class).assertSilent().out());
    }

    static final class SingleThread {
        public static void main(String[] args) {
            ThreadMXBean bean = ManagementFactory.getThreadMXBean();
            while (bean.getCurrentThreadCpuTime() < 300_000_000) for (int i = 0; i < 1_000; i++) Thread.yield();
            double cpu = bean.getCurrentThreadCpuTime();
            System.out.print((cpu - bean.getCurrentThreadUserTime()) / cpu);
        }
    }
}
