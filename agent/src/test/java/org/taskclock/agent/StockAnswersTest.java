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

/**
 * ThreadMXBean answers as the JDK's does: the same program prints what kind of answer it gets, without the agent and with it.
 * The cases are those of the JDK's own tests of ThreadMXBean's CPU times, and those in which we differed once.
 */
class StockAnswersTest {
    @Test
    void shouldAnswerAsTheJdk() throws IOException, InterruptedException {
        String stock = Jvm.plain().run(Answers.class, "spec").silently().out();
        assertThat(stock).contains("own cpu: time\n", "unknown user: -1\n");
        if (Jvm.feature() >= 21) assertThat(stock).contains("virtual: own cpu among several: -1 -1 time -1\n");
        assertThat(Jvm.with("").run(Answers.class, "spec").silently().out()).isEqualTo(stock);
        assertThat(Jvm.with("vthreads=off")
                        .run(Answers.class, "spec")
                        .silently()
                        .out())
                .isEqualTo(stock);
        String detached = Jvm.with("threadmxbean=off")
                .run(Answers.class, "spec")
                .silently()
                .out();
        assertThat(detached).isEqualTo(stock);
    }

    @Test
    void shouldAnswerVirtualThreadsIfAsked() throws IOException, InterruptedException {
        Jvm.End end = Jvm.with("virtual=mxbean").run(Answers.class, "mxbean");
        assertThat(end.exit()).as(end.toString()).isZero();
        if (Jvm.feature() < 21) {
            assertThat(end.err()).contains("left out: virtual: this JDK has no virtual threads");
            return;
        }
        assertThat(end.err()).isEmpty();
        assertThat(end.out())
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

        private interface ManyTimes {
            long[] of(long[] ids);
        }

        /** Pretends to be another thread. */
        private static final class Pretender extends Thread {
            private final long id;

            Pretender(long id, Runnable target) {
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
            say("null: cpu", () -> signs(BEAN.getThreadCpuTime(null)));
            say("null: user", () -> signs(BEAN.getThreadUserTime(null)));

            CountDownLatch pretended = new CountDownLatch(1);
            Pretender pretender = new Pretender(unknown, () -> {
                say("pretender: current cpu", () -> sign(BEAN.getCurrentThreadCpuTime()));
                say("pretender: pretended cpu", () -> sign(BEAN.getThreadCpuTime(unknown)));
                say("pretender: pretended user", () -> sign(BEAN.getThreadUserTime(unknown)));
                askMany("pretender: several", unknown, id(main));
                pretended.countDown();
                await(end);
            });
            pretender.start();
            pretended.await();
            ask("pretended", unknown);
            askMany("pretended among several", id(main), unknown);

            boolean isVirtual = Runtime.version().feature() >= 21;
            if (isVirtual) {
                VirtualThread.start("", () -> {
                            spin();
                            long own = id(Thread.currentThread());
                            say("virtual: current cpu", () -> sign(BEAN.getCurrentThreadCpuTime()));
                            say("virtual: current user", () -> sign(BEAN.getCurrentThreadUserTime()));
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
                say("disabled: current cpu", () -> sign(BEAN.getCurrentThreadCpuTime()));
                say("disabled: current user", () -> sign(BEAN.getCurrentThreadUserTime()));
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
            say(whose + " cpu", () -> sign(BEAN.getThreadCpuTime(id)));
            say(whose + " user", () -> sign(BEAN.getThreadUserTime(id)));
        }

        private static void askMany(String what, long... ids) {
            ManyTimes cpu = BEAN::getThreadCpuTime;
            ManyTimes user = BEAN::getThreadUserTime;
            say(what + " cpu among several", () -> signs(cpu.of(ids)));
            say(what + " user among several", () -> signs(user.of(ids)));
        }

        private static void say(String what, Callable<String> answer) {
            String text;
            try {
                text = answer.call();
            } catch (Exception e) {
                text = e.getClass().getName();
            }
            System.out.println(what + ": " + text);
        }

        private static String sign(long nanos) {
            return nanos == -1 ? "-1" : nanos < 0 ? "negative" : "time";
        }

        private static String signs(long[] nanos) {
            return Arrays.stream(nanos).mapToObj(Answers::sign).collect(Collectors.joining(" "));
        }
    }

    /** All places of one id are answered at once by the clock, so they agree. */
    @Test
    void shouldAnswerEachPlaceOfOwnId() throws IOException, InterruptedException {
        Jvm.with("").run(Places.class).silently();
    }

    static final class Places {
        public static void main(String[] args) {
            ThreadMXBean bean = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            @SuppressWarnings("deprecation") // threadId() came with JDK 19
            long own = Thread.currentThread().getId();
            long[] ids = new long[130]; // more than one chunk
            Arrays.fill(ids, own);
            List<long[]> all = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                all.add(bean.getThreadCpuTime(ids));
                all.add(bean.getThreadUserTime(ids));
            }
            for (long[] times : all)
                assertThat(Arrays.stream(times).distinct().count()).isEqualTo(1);
        }
    }
}
