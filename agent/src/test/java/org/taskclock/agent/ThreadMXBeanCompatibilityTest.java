// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.taskclock.internal.JdkVersions;

/**
 * Checks that ThreadMXBean behaves as it does without the agent. A program prints the kinds of answers that it gets.
 * The cases are those in the JDK's own tests of ThreadMXBean's CPU times, plus cases in which the agent once behaved
 * differently.
 */
class ThreadMXBeanCompatibilityTest {
    @Test
    void shouldAnswerLikeTheJdk() throws IOException, InterruptedException {
        String stock = JvmLauncher.withoutAgent()
                .run(Answers.class, "spec")
                .assertSilent()
                .out();
        assertThat(stock).contains("own cpu: time\n", "unknown user: -1\n");
        if (JvmLauncher.feature() >= JdkVersions.VIRTUAL_THREADS)
            assertThat(stock).contains("virtual: own cpu among several: -1 -1 time -1\n");
        assertThat(JvmLauncher.withAgent("")
                        .run(Answers.class, "spec")
                        .assertSilent()
                        .out())
                .isEqualTo(stock);
        assertThat(JvmLauncher.withAgent("vthreads=off")
                        .run(Answers.class, "spec")
                        .assertSilent()
                        .out())
                .isEqualTo(stock);
        String switchedOff = JvmLauncher.withAgent("threadmxbean=off")
                .run(Answers.class, "spec")
                .assertSilent()
                .out();
        assertThat(switchedOff).isEqualTo(stock);
    }

    @Test
    void shouldAnswerForVirtualThreadsIfRequested() throws IOException, InterruptedException {
        JvmLauncher.Result result = JvmLauncher.withAgent("virtual=mxbean").run(Answers.class, "mxbean");
        assertThat(result.exit()).as(result.toString()).isZero();
        if (JvmLauncher.feature() < JdkVersions.VIRTUAL_THREADS) {
            assertThat(result.err()).contains("unavailable: virtual: virtual threads require JDK 21");
            return;
        }
        assertThat(result.err()).isEmpty();
        assertThat(result.out())
                .contains(
                        "virtual: current cpu: time\n",
                        "virtual: current user: time\n",
                        "virtual: own cpu: time\n",
                        "virtual: own user: time\n",
                        "virtual: own cpu among several: time time time time\n",
                        "virtual: own user among several: time time time time\n");
    }

    static final class Answers {
        private static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();

        private interface TimesReader {
            long[] read(long[] ids);
        }

        /** A thread whose getId returns a false id. */
        private static final class Impostor extends Thread {
            private final long id;

            Impostor(long id, Runnable target) {
                super(target);
                this.id = id;
            }

            @Override
            @SuppressWarnings("deprecation") // threadId() came with JDK 19
            public long getId() {
                return id;
            }
        }

        public static void main(String[] args) throws Exception {
            Thread main = Thread.currentThread();
            spin();
            CountDownLatch end = new CountDownLatch(1);
            Thread other = new Thread(() -> await(end));
            other.start();
            Thread ended = new Thread(() -> {});
            ended.start();
            ended.join();
            Thread unstarted = new Thread(() -> {});
            long unknown = 1L << 40;
            ask("own", id(main));
            ask("other", id(other));
            ask("ended", id(ended));
            ask("unstarted", id(unstarted));
            ask("unknown", unknown);
            ask("zero", 0);
            ask("negative", -5);
            askMany("several", id(main), id(other), id(main), unknown, id(ended), id(main));
            askMany("other twice", id(other), id(other));
            askMany("with zero", id(main), 0, id(other));
            askMany("none");
            print("null: cpu", () -> kinds(BEAN.getThreadCpuTime(null)));
            print("null: user", () -> kinds(BEAN.getThreadUserTime(null)));

            CountDownLatch asked = new CountDownLatch(1);
            Impostor impostor = new Impostor(unknown, () -> {
                print("impostor: current cpu", () -> kind(BEAN.getCurrentThreadCpuTime()));
                print("impostor: assumed id, cpu", () -> kind(BEAN.getThreadCpuTime(unknown)));
                print("impostor: assumed id, user", () -> kind(BEAN.getThreadUserTime(unknown)));
                askMany("impostor: several", unknown, id(main));
                asked.countDown();
                await(end);
            });
            impostor.start();
            asked.await();
            ask("assumed id", unknown);
            askMany("assumed id among several", id(main), unknown);

            boolean hasVirtualThreads = Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS;
            if (hasVirtualThreads) {
                VirtualThreadStarter.start("", () -> {
                            spin();
                            long own = id(Thread.currentThread());
                            print("virtual: current cpu", () -> kind(BEAN.getCurrentThreadCpuTime()));
                            print("virtual: current user", () -> kind(BEAN.getCurrentThreadUserTime()));
                            ask("virtual: own", own);
                            askMany("virtual: own", own, own, id(main), own);
                            ask("virtual: other", id(main));
                        })
                        .join();
            }
            if (args[0].equals("spec")) {
                BEAN.setThreadCpuTimeEnabled(false);
                ask("disabled: own", id(main));
                askMany("disabled: several", id(main), id(other));
                print("disabled: current cpu", () -> kind(BEAN.getCurrentThreadCpuTime()));
                print("disabled: current user", () -> kind(BEAN.getCurrentThreadUserTime()));
                BEAN.setThreadCpuTimeEnabled(true);
                ask("enabled again: own", id(main));
            }
            end.countDown();
        }

        private static void await(CountDownLatch latch) {
            try {
                spin();
                latch.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private static void spin() {
            long end = System.nanoTime() + 30_000_000;
            while (System.nanoTime() - end < 0) Thread.onSpinWait();
        }

        @SuppressWarnings("deprecation") // threadId() came with JDK 19
        private static long id(Thread thread) {
            return thread.getId();
        }

        private static void ask(String whose, long id) {
            print(whose + " cpu", () -> kind(BEAN.getThreadCpuTime(id)));
            print(whose + " user", () -> kind(BEAN.getThreadUserTime(id)));
        }

        private static void askMany(String what, long... ids) {
            TimesReader cpu = BEAN::getThreadCpuTime;
            TimesReader user = BEAN::getThreadUserTime;
            print(what + " cpu among several", () -> kinds(cpu.read(ids)));
            print(what + " user among several", () -> kinds(user.read(ids)));
        }

        private static void print(String what, Callable<String> answer) {
            String text;
            try {
                text = answer.call();
            } catch (Exception e) {
                text = e.getClass().getName();
            }
            System.out.println(what + ": " + text);
        }

        private static String kind(long nanos) {
            return nanos == -1 ? "-1" : nanos < 0 ? "negative" : "time";
        }

        private static String kinds(long[] nanos) {
            return Arrays.stream(nanos).mapToObj(Answers::kind).collect(Collectors.joining(" "));
        }
    }

    /** The clock stores the same reading for each occurrence of the caller's id. */
    @Test
    void shouldAnswerEachOccurrenceOfTheOwnId() throws IOException, InterruptedException {
        JvmLauncher.withAgent("").run(OwnIdRepeated.class).assertSilent();
    }

    static final class OwnIdRepeated {
        public static void main(String[] args) {
            ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            @SuppressWarnings("deprecation") // threadId() came with JDK 19
            long own = Thread.currentThread().getId();
            long[] ids = new long[130]; // more than two chunks of the native method
            Arrays.fill(ids, own);
            List<long[]> answers = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                answers.add(bean.getThreadCpuTime(ids));
                answers.add(bean.getThreadUserTime(ids));
            }
            for (long[] times : answers)
                assertThat(Arrays.stream(times).distinct().count()).isEqualTo(1);
        }
    }
}
