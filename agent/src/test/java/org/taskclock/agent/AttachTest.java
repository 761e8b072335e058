// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

/** Attached to a JVM that runs, and taken off again. */
@SuppressWarnings("ThreadPriorityCheck") // yielding is what is tested
class AttachTest {
    private static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** A program that attaches to itself. */
    private static Jvm attachable() {
        return Jvm.plain()
                .option("-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading")
                .option("-Dagent.jar=" + System.getProperty("agent.jar"));
    }

    private static VirtualMachine self() throws Exception {
        return VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
    }

    private static String attach(VirtualMachine self, String options) throws Exception {
        self.loadAgent(System.getProperty("agent.jar"), options);
        return System.getProperty("taskclock.agent");
    }

    /** Fine user times are the clock's; the JVM's are text in steps of 10 ms, or ticks: the same for many calls in a row. */
    private static boolean isFromTheClock() {
        // Ours may stand for a moment, after a hypervisor took time that the kernel deducts.
        for (int i = 0; i < 10; i++) if (isFine()) return true;
        return false;
    }

    private static boolean isFine() {
        int same = 0;
        long last = BEAN.getCurrentThreadUserTime();
        for (int i = 0; i < 1_000; i++) {
            long user = BEAN.getCurrentThreadUserTime();
            if (user == last) same++;
            last = user;
        }
        return same < 500;
    }

    @Test
    void shouldAttachAndDetach() throws IOException, InterruptedException {
        attachable().run(Once.class).silently();
    }

    static final class Once {
        public static void main(String[] args) throws Exception {
            ObjectName name = new ObjectName(TaskClockMXBean.NAME);
            VirtualMachine self = self();
            assertThat(isFromTheClock()).isFalse();
            assertThat(attach(self, "detach")).isEqualTo("detached");
            for (int i = 0; i < 3; i++) {
                assertThat(attach(self, null))
                        .contains("threadmxbean=on,yield=pass")
                        .doesNotContain("left out");
                assertThat(isFromTheClock()).isTrue();
                assertThat(attach(self, "yield=count")).contains("threadmxbean=on,yield=count");
                TaskClockMXBean bean = Sample.bean();
                long yields = ownYields(bean);
                for (int k = 0; k < 100; k++) Thread.yield();
                assertThat(ownYields(bean)).isEqualTo(yields + 100);
                assertThat(attach(self, "threadmxbean=off,bean=off"))
                        .as("what is not named stays")
                        .contains("threadmxbean=off,yield=count");
                assertThat(isFromTheClock()).isFalse();
                assertThat(attach(self, "jfr=off")).contains("threadmxbean=off,yield=count");
                assertThat(ManagementFactory.getPlatformMBeanServer().isRegistered(name))
                        .isFalse();
                assertThat(attach(self, "threadmxbean=on,bean=on")).contains("threadmxbean=on,yield=count");
                assertThat(ownYields(bean)).isEqualTo(yields + 100);

                assertThat(attach(self, "detach")).contains("threadmxbean=off,yield=pass");
                assertThat(isFromTheClock()).isFalse();
                assertThat(ManagementFactory.getPlatformMBeanServer().isRegistered(name))
                        .isFalse();
                for (int k = 0; k < 100; k++) Thread.yield();
                attach(self, "");
                assertThat(ownYields(bean)).as("yields while detached").isEqualTo(yields + 100);
                bean.detach();
                assertThat(System.getProperty("taskclock.agent")).endsWith("; detached");
            }
            self.detach();
        }

        private static long ownYields(TaskClockMXBean bean) {
            for (TaskClockMXBean.Yielder yielder : bean.getYielders())
                if (yielder.getName().equals("main")) return yielder.getYields();
            return 0;
        }
    }

    /** The management agent stores its address in the properties of tools that it took before it started its connector. */
    @Test
    void shouldKeepWhatTheJvmTellsTools() throws IOException, InterruptedException {
        attachable()
                .option("--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED")
                .run(Told.class)
                .silently();
    }

    static final class Told {
        public static void main(String[] args) throws Exception {
            Method current = Class.forName("jdk.internal.vm.VMSupport").getMethod("getAgentProperties");
            Properties before = (Properties) current.invoke(null);
            VirtualMachine self = self();
            attach(self, null);
            Properties after = (Properties) current.invoke(null);
            assertThat(after).as("the agent offers its report").isNotSameAs(before);
            before.put("late", "1");
            after.put("later", "2");
            assertThat(after.get("late")).isEqualTo("1");
            assertThat(before.get("later")).isEqualTo("2");
            assertThat(self.getAgentProperties()).containsEntry("late", "1").containsEntry("later", "2");
            // As the management agent does, and the tools that use it.
            String address = self.startLocalManagementAgent();
            assertThat(self.startLocalManagementAgent()).isEqualTo(address).startsWith("service:jmx:rmi:");
            self.detach();
        }
    }

    @Test
    void shouldChangeNothingWhileTheKillSwitchIsThrown() throws IOException, InterruptedException {
        Jvm.End end = attachable().run(Killed.class);
        assertThat(end.exit()).as(end.toString()).isZero();
        assertThat(end.err())
                .isEqualTo(
                        "taskclock: agent: the kill switch is thrown: set the bean's Enabled to true, or detach, first\n");
    }

    static final class Killed {
        public static void main(String[] args) throws Exception {
            VirtualMachine self = self();
            attach(self, "yield=count");
            TaskClockMXBean bean = Sample.bean();
            String rung = bean.getRung();
            bean.setEnabled(false);
            assertThat(attach(self, "yield=off")).startsWith("failed: the kill switch");
            assertThat(bean.getYieldMode()).isEqualTo("pass");
            assertThat(isFromTheClock()).isFalse();
            attach(self, "detach");
            assertThat(attach(self, "")).contains("rung=" + rung, "threadmxbean=on,yield=pass");
            assertThat(isFromTheClock()).isTrue();
            self.detach();
        }
    }

    @Test
    void shouldLeaveNothingBehind() throws IOException, InterruptedException {
        String rounds = System.getProperty("attach.rounds", "1000");
        // Threads of the JVM's own that come and go would be taken for ours.
        Jvm jvm = attachable().option("-XX:+UseSerialGC", "-XX:-UseDynamicNumberOfCompilerThreads");
        jvm.run(Rounds.class, rounds).silently();
    }

    static final class Rounds {
        private static final int WARM_UP = 300;
        /** The JVM's profiles of methods are there too and grow for a while; one class each round would be twice this. */
        private static final long METASPACE_TOLERANCE = 1_000_000;
        /** Carriers of virtual threads come and go. */
        private static final long THREAD_TOLERANCE = 3;

        private static final long FILE_TOLERANCE = 3;

        private record Use(long metaspace, long threads, long files, long regions) {
            static Use now() throws IOException {
                System.gc();
                System.gc();
                long metaspace = 0;
                for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans())
                    if (pool.getName().equals("Metaspace"))
                        metaspace = pool.getUsage().getUsed();
                return new Use(metaspace, count("/proc/self/task"), openFiles(), mapped());
            }

            private static long count(String directory) throws IOException {
                try (Stream<Path> entries = Files.list(Path.of(directory))) {
                    return entries.count();
                }
            }

            /** But sockets: the agent opens none, and each attaching leaves one on JDK 21 and later, with an empty agent too. */
            private static long openFiles() throws IOException {
                try (Stream<Path> entries = Files.list(Path.of("/proc/self/fd"))) {
                    return entries.filter(e -> !link(e).startsWith("socket:")).count();
                }
            }

            private static String link(Path file) {
                try {
                    return Files.readSymbolicLink(file).toString();
                } catch (IOException e) {
                    return "closed meanwhile";
                }
            }

            private static long mapped() throws IOException {
                try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
                    return lines.filter(l -> l.contains("libtaskclock")).count();
                }
            }
        }

        private static volatile boolean done;

        public static void main(String[] args) throws Exception {
            Thread reader = new Thread(Rounds::read, "reader");
            reader.start();
            Thread yielder = new Thread(Rounds::yieldOften, "yielder");
            yielder.start();
            for (int i = 0; i < 4 && Jvm.feature() >= 21; i++) {
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable)
                        Rounds::yieldOften);
            }
            VirtualMachine self = self();
            for (int i = 0; i < WARM_UP; i++) round(self);
            Use before = Use.now();
            for (int i = 0; i < Integer.parseInt(args[0]); i++) round(self);
            Use after = Use.now();
            done = true;
            reader.join();
            yielder.join();
            assertThat(before.regions).isPositive();
            assertThat(after.regions).isEqualTo(before.regions);
            assertThat(after.metaspace).isLessThan(before.metaspace + METASPACE_TOLERANCE);
            assertThat(after.threads).isBetween(1L, before.threads + THREAD_TOLERANCE);
            assertThat(after.files).isBetween(1L, before.files + FILE_TOLERANCE);
        }

        private static void round(VirtualMachine self) throws Exception {
            assertThat(attach(self, "yield=count"))
                    .contains("threadmxbean=on,yield=count")
                    .doesNotContain("left out");
            assertThat(attach(self, "detach"))
                    .contains("threadmxbean=off,yield=pass")
                    .doesNotContain("left out");
        }

        private static void read() {
            long[] ids = BEAN.getAllThreadIds();
            while (!done) {
                assertThat(BEAN.getCurrentThreadCpuTime()).isPositive();
                assertThat(BEAN.getCurrentThreadUserTime()).isNotNegative();
                assertThat(BEAN.getThreadUserTime(ids)).hasSameSizeAs(ids);
                // Leaves the processor to those that attach.
                LockSupport.parkNanos(100_000);
            }
        }

        private static void yieldOften() {
            while (!done) {
                for (int i = 0; i < 10; i++) Thread.yield();
                LockSupport.parkNanos(100_000);
            }
        }
    }
}
