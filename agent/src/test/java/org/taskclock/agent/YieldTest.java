// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import javax.management.Attribute;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

/** Thread.yield under the agent: counted, silenced, and let be. */
@SuppressWarnings("ThreadPriorityCheck") // yielding is what is tested
class YieldTest {
    @Test
    void shouldCount() throws IOException, InterruptedException {
        Jvm.with("yield=count").run(Counted.class).silently();
    }

    static final class Counted {
        private static final int OFTEN = 1_500_000;
        private static final int SELDOM = 500_000;

        public static void main(String[] args) throws Exception {
            Thread often = new Thread(Counted::often, "often-1");
            Thread seldom = new Thread(Counted::seldom, "seldom");
            often.start();
            seldom.start();
            for (int i = 0; i < 10; i++) Thread.yield();
            often.join();
            TaskClockMXBean bean = Sample.bean();
            assertThat(yielder(bean, "main").getYields()).isEqualTo(10);
            seldom.join();
            // Ended threads are known by their names, digits left out.
            TaskClockMXBean.Yielder ended = yielder(bean, "often-#");
            assertThat(ended.getYields()).isEqualTo(OFTEN);
            assertThat(ended.getTid()).isZero();
            assertThat(ended.getYieldNanos()).isPositive();
            assertThat(ended.getYieldSwitches()).isBetween(0L, ended.getYields());
            assertThat(ended.getUserNanos() + ended.getSystemNanos()).isPositive();
            assertThat(yielder(bean, "seldom").getYields()).isEqualTo(SELDOM);

            TaskClockMXBean.YieldSite[] sites = bean.getYieldSites();
            assertThat(sites[0].getSite()).contains("Counted.often");
            assertThat(sites[0].getStack()).hasSizeBetween(2, 8);
            long seen = 0;
            for (TaskClockMXBean.YieldSite site : sites) seen += site.getYields();
            // What came after the last sample of each thread is missing.
            assertThat(seen).isBetween((OFTEN + SELDOM) / 2L, OFTEN + SELDOM + 10L);
        }

        private static void often() {
            for (int i = 0; i < OFTEN; i++) Thread.yield();
        }

        private static void seldom() {
            for (int i = 0; i < SELDOM; i++) Thread.yield();
        }
    }

    static TaskClockMXBean.Yielder yielder(TaskClockMXBean bean, String name) {
        for (TaskClockMXBean.Yielder yielder : bean.getYielders())
            if (yielder.getName().equals(name)) return yielder;
        throw new AssertionError("no yielder " + name);
    }

    @Test
    void shouldCountVirtualThreads() throws IOException, InterruptedException {
        if (Jvm.feature() < 21) {
            // There are none: the platform's are counted all the same.
            Jvm.with("yield=count").run(Counted.class).silently();
        } else {
            Jvm.with("yield=count").run(Virtual.class, "count").silently();
            Jvm.with("vthreads=off,yield=count").run(Virtual.class, "count").silently();
            Jvm.with("yield=off,virtual-yield=off")
                    .option(ONE_CARRIER)
                    .run(Virtual.class, "off")
                    .silently();
        }
    }

    /** A virtual thread that waits for another one and only yields would never leave its carrier. */
    @Test
    void shouldNotSilenceVirtualThreadsUnlessAsked() throws IOException, InterruptedException {
        if (Jvm.feature() >= 21) {
            Jvm.with("yield=off").option(ONE_CARRIER).run(Virtual.class, "pass").silently();
        } else {
            assertThat(systemShare(Jvm.with("yield=off"))).isLessThan(0.2);
        }
    }

    /** Else two threads take turns at a lock, whether they yield or not. */
    private static final String ONE_CARRIER = "-Djdk.virtualThreadScheduler.parallelism=1";

    static final class Virtual {
        private static final int THREADS = 50;
        private static final int YIELDS = 2_000;

        public static void main(String[] args) throws Exception {
            List<Thread> threads = new ArrayList<>();
            int[] inTurn = new int[1];
            int[] last = {-1};
            for (int t = 0; t < THREADS; t++) {
                int number = t;
                threads.add(start(() -> {
                    for (int i = 0; i < YIELDS; i++) {
                        synchronized (last) {
                            if (last[0] != number) inTurn[0]++;
                            last[0] = number;
                        }
                        Thread.yield();
                    }
                }));
            }
            for (Thread thread : threads) thread.join();
            TaskClockMXBean bean = Sample.bean();
            long counted = 0;
            for (TaskClockMXBean.Yielder yielder : bean.getYielders()) counted += yielder.getVirtualYields();
            if (args[0].equals("off")) {
                assertThat(counted).isZero();
                // Who does not yield is not interrupted: it runs to its end, but for what else switches threads.
                assertThat(inTurn[0]).isLessThan(2 * THREADS);
            } else if (args[0].equals("pass")) {
                assertThat(bean.getYieldMode()).isEqualTo("off");
                assertThat(bean.getVirtualYieldMode()).isEqualTo("pass");
                assertThat(counted).isZero();
                assertThat(inTurn[0]).isGreaterThan(THREADS * YIELDS / 4);
            } else {
                assertThat(counted).isEqualTo(THREADS * YIELDS);
                long sampled = 0;
                for (long yields : bean.getVirtualYielders().values()) sampled += yields;
                assertThat(sampled).isBetween(counted / 2, counted);
                assertThat(bean.getYieldSites()[0].getSite()).contains("Virtual");
            }
        }

        private static Thread start(Runnable work) throws ReflectiveOperationException {
            return (Thread)
                    Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
        }
    }

    @Test
    void shouldChangeWhileRunning() throws IOException, InterruptedException {
        Jvm.with("").run(Changing.class).silently();
    }

    static final class Changing {
        public static void main(String[] args) throws Exception {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName name = new ObjectName("org.taskclock:type=TaskClock");
            TaskClockMXBean bean = Sample.bean();
            yieldOften(100);
            assertThat(bean.getYielders()).isEmpty();
            bean.setYieldMode("count");
            yieldOften(200);
            assertThat(yielder(bean, "main").getYields()).isEqualTo(200);
            server.setAttribute(name, new Attribute("YieldMode", "off"));
            long silent = yieldOften(200_000);
            bean.setYieldMode("pass");
            long loud = yieldOften(200_000);
            assertThat(yielder(bean, "main").getYields()).isEqualTo(200);
            // A call that does nothing against a system call.
            assertThat(silent).isLessThan(loud);
            bean.setYieldMode("count");
            bean.setEnabled(false);
            assertThat(bean.getYieldMode()).isEqualTo("pass");
            assertThat(bean.getRung()).isEqualTo("mxbean");
            bean.setEnabled(true);
            assertThat(bean.getYieldMode()).isEqualTo("count");
            yieldOften(50);
            assertThat(yielder(bean, "main").getYields()).isCloseTo(250, within(0L));
        }

        private static long yieldOften(int times) {
            long start = System.nanoTime();
            for (int i = 0; i < times; i++) Thread.yield();
            return System.nanoTime() - start;
        }
    }

    /** A thread alone that yields is nearly all system time; with the JDK's own flag, and with ours, it is none. */
    @Test
    void shouldDoWhatTheFlagDid() throws IOException, InterruptedException {
        assertThat(systemShare(Jvm.plain())).isGreaterThan(0.5);
        assertThat(systemShare(Jvm.with("yield=off"))).isLessThan(0.2);
        // JDK 24 took it away.
        if (Jvm.feature() < 24)
            assertThat(systemShare(Jvm.plain().option("-XX:+DontYieldALot"))).isLessThan(0.2);
    }

    private static double systemShare(Jvm jvm) throws IOException, InterruptedException {
        return Double.parseDouble(jvm.run(Alone.class).silently().out());
    }

    static final class Alone {
        public static void main(String[] args) {
            ThreadMXBean bean = ManagementFactory.getThreadMXBean();
            while (bean.getCurrentThreadCpuTime() < 1_000_000_000) for (int i = 0; i < 1_000; i++) Thread.yield();
            double cpu = bean.getCurrentThreadCpuTime();
            System.out.print((cpu - bean.getCurrentThreadUserTime()) / cpu);
        }
    }
}
