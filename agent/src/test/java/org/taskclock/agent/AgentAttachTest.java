// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.internal.JdkVersions;

/** Attaches the agent to a running JVM, and detaches it. */
@SuppressWarnings("ThreadPriorityCheck") // yields are under test
class AgentAttachTest {
    private static final ThreadMXBean BEAN = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Returns a launcher for a program that attaches to itself. */
    private static JvmLauncher attachable() {
        return JvmLauncher.withoutAgent()
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

    /**
     * Returns whether user times come from the clock. Only the clock's user times are fine-grained. The JVM's have a
     * resolution of 10 ms or of a tick, so many calls in a row return the same value.
     */
    private static boolean answersFromClock() {
        for (int i = 0; i < 10; i++) if (isFineGrained()) return true;
        return false;
    }

    /**
     * Waits until user times come from the clock. The clock's user time does not advance while the kernel's ticks find
     * only system time: 32 ms of CPU time were seen without a change.
     */
    private static void awaitAnswersFromClock() {
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (!isFineGrained()) {
            assertThat(System.nanoTime()).as("user times are not fine-grained").isLessThan(deadline);
        }
    }

    private static boolean isFineGrained() {
        int unchanged = 0;
        long last = BEAN.getCurrentThreadUserTime();
        for (int i = 0; i < 1_000; i++) {
            long user = BEAN.getCurrentThreadUserTime();
            if (user == last) unchanged++;
            last = user;
        }
        return unchanged < 500;
    }

    /** Attaching again changes the directory, unless the new one cannot be used. */
    @Test
    void shouldWriteTheSummaryWhereItWasLastRequested(@TempDir Path first, @TempDir Path second)
            throws IOException, InterruptedException {
        JvmLauncher.Result result = attachable().run(Summaries.class, first.toString(), second.toString());
        assertThat(result.exit()).as(result.err()).isZero();
        assertThat(result.err())
                .isEqualTo("taskclock: agent: unavailable: summary: /nonexistent is not a writable directory\n");
        try (Stream<Path> files = Files.list(first)) {
            assertThat(files).isEmpty();
        }
        try (Stream<Path> files = Files.list(second)) {
            assertThat(files).hasSize(1);
        }
    }

    static final class Summaries {
        public static void main(String[] args) throws Exception {
            VirtualMachine self = self();
            assertThat(attach(self, "summary=" + args[0])).doesNotContain("summary");
            assertThat(attach(self, "summary=" + args[1])).doesNotContain("summary");
            assertThat(attach(self, "summary=/nonexistent")).contains("summary");
            assertThat(attach(self, "jfr=on")).doesNotContain("summary");
        }
    }

    @Test
    void shouldAllowTheClockToTakeAreas() throws IOException, InterruptedException {
        attachable().run(Taking.class).assertSilent();
    }

    static final class Taking {
        public static void main(String[] args) throws Exception {
            VirtualMachine self = self();
            attach(self, null);
            assertThat(rseqTake()).isEqualTo("off");
            String before = AgentCheck.bean().getBackend();
            // The programs of this class run on this machine's kernel, whose best backend may be a better one.
            String allowed = attach(self, "rseq-take=on");
            assertThat(allowed).doesNotContain("unavailable");
            String taking = AgentCheck.bean().getBackend();
            assertThat(taking).isEqualTo(before.equals("syscall") ? "rseq-take" : before);
            assertThat(rseqTake()).isEqualTo("on");
            awaitAnswersFromClock();
            attach(self, "rseq-take=off");
            assertThat(AgentCheck.bean().getBackend()).isEqualTo(before);
            attach(self, "rseq-take=on");
            attach(self, "detach");
            attach(self, null);
            assertThat(AgentCheck.bean().getBackend()).isEqualTo(before);
            assertThat(rseqTake()).isEqualTo("off");
        }

        private static String rseqTake() throws Exception {
            return Stream.of(AgentCheck.bean().getFeatures())
                    .filter(feature -> feature.getName().equals("rseq-take"))
                    .map(TaskClockMXBean.Feature::getState)
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    void shouldSayWhyTheClockCannotTakeAreas() throws IOException, InterruptedException {
        JvmLauncher.Result result =
                attachable().option("-Dtaskclock.accuracy=exact").run(RefusedTaking.class);
        assertThat(result.exit()).as(result.err()).isZero();
        assertThat(result.err())
                .isEqualTo("taskclock: agent: unavailable: rseq-take: -Dtaskclock.accuracy=exact:"
                        + " every reading must ask the kernel\n");
    }

    static final class RefusedTaking {
        public static void main(String[] args) throws Exception {
            assertThat(attach(self(), "rseq-take=on")).contains("unavailable").contains("rseq-take");
            assertThat(AgentCheck.bean().getBackend()).isEqualTo("syscall");
            assertThat(Taking.rseqTake()).isEqualTo("off");
        }
    }

    @Test
    void shouldAttachAndDetach() throws IOException, InterruptedException {
        attachable().run(AttachAndDetach.class).assertSilent();
    }

    static final class AttachAndDetach {
        public static void main(String[] args) throws Exception {
            ObjectName name = new ObjectName(TaskClockMXBean.NAME);
            VirtualMachine self = self();
            assertThat(answersFromClock()).isFalse();
            assertThat(attach(self, "detach")).isEqualTo("detached");
            for (int i = 0; i < 3; i++) {
                assertThat(attach(self, null))
                        .contains("threadmxbean=on,yield=pass")
                        .doesNotContain("unavailable");
                awaitAnswersFromClock();
                assertThat(attach(self, "yield=count")).contains("threadmxbean=on,yield=count");
                TaskClockMXBean bean = AgentCheck.bean();
                long yields = ownYields(bean);
                for (int k = 0; k < 100; k++) Thread.yield();
                assertThat(ownYields(bean)).isEqualTo(yields + 100);
                assertThat(attach(self, "threadmxbean=off,bean=off"))
                        .as("options that were not given")
                        .contains("threadmxbean=off,yield=count");
                assertThat(answersFromClock()).isFalse();
                assertThat(attach(self, "jfr=off")).contains("threadmxbean=off,yield=count");
                assertThat(ManagementFactory.getPlatformMBeanServer().isRegistered(name))
                        .isFalse();
                assertThat(attach(self, "threadmxbean=on,bean=on")).contains("threadmxbean=on,yield=count");
                assertThat(ownYields(bean)).isEqualTo(yields + 100);

                assertThat(attach(self, "detach")).contains("threadmxbean=off,yield=pass");
                assertThat(answersFromClock()).isFalse();
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

    /**
     * The management agent gets the agent properties before it starts its connector, and stores its address in them
     * later.
     */
    @Test
    void shouldKeepTheAgentProperties() throws IOException, InterruptedException {
        attachable()
                .option("--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED")
                .run(AgentProperties.class)
                .assertSilent();
    }

    static final class AgentProperties {
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
            // Tools start and find the management agent in this way.
            String address = self.startLocalManagementAgent();
            assertThat(self.startLocalManagementAgent()).isEqualTo(address).startsWith("service:jmx:rmi:");
            self.detach();
        }
    }

    /** The platform looks for beans once, when the program first asks for one of them. */
    @Test
    void shouldRegisterTheBeanTogetherWithTheServer() throws IOException, InterruptedException {
        attachable().run(BeansBeforeServer.class).assertSilent();
    }

    static final class BeansBeforeServer {
        public static void main(String[] args) throws Exception {
            assertThat(ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class))
                    .isNotEmpty();
            VirtualMachine self = self();
            attach(self, null);
            ObjectName name = new ObjectName(TaskClockMXBean.NAME);
            assertThat(ManagementFactory.getPlatformMBeanServer().isRegistered(name))
                    .isTrue();
            attach(self, "detach");
            assertThat(ManagementFactory.getPlatformMBeanServer().isRegistered(name))
                    .isFalse();
            attach(self, null);
            assertThat(ManagementFactory.getPlatformMBeanServer().isRegistered(name))
                    .as("the server exists")
                    .isTrue();
            self.detach();
        }
    }

    // ---- commands of tools

    @Test
    void shouldAcceptCommandsOfItsUserOnly() throws IOException, InterruptedException {
        attachable().run(Commands.class).assertSilent();
    }

    static final class Commands {
        private static final Path FILE =
                Path.of("/tmp/.taskclock_command_" + ProcessHandle.current().pid());

        private static String send(VirtualMachine self) throws Exception {
            return self.getAgentProperties().getProperty("taskclock.state");
        }

        private static void write(String text) throws IOException {
            Files.deleteIfExists(FILE);
            Files.writeString(FILE, text);
            Files.setPosixFilePermissions(FILE, PosixFilePermissions.fromString("rw-r--r--"));
        }

        public static void main(String[] args) throws Exception {
            VirtualMachine self = self();
            attach(self, null);
            Path link = FILE.resolveSibling(FILE.getFileName() + "_link");
            try {
                assertThat(send(self)).as("without a command").isNull();
                write("yield=count\n");
                assertThat(send(self)).contains("yield=count").isEqualTo(System.getProperty("taskclock.agent"));
                // Another tool reads the properties meanwhile.
                attach(self, "yield=off");
                assertThat(send(self)).as("the reply to the command").contains("yield=count");
                assertThat(System.getProperty("taskclock.agent")).contains("yield=off");
                write("detach\n");
                assertThat(send(self)).endsWith("; detached");
                write("yield=count\n");
                assertThat(send(self)).as("a command to the detached agent").contains("yield=count");
                write("yield=off");
                assertThat(send(self)).as("without a line end").isEmpty();
                write("yield=off\n");
                Files.setPosixFilePermissions(FILE, PosixFilePermissions.fromString("rw-rw-rw-"));
                assertThat(send(self)).as("writable by others").isEmpty();
                write("yield=off\n");
                Files.setLastModifiedTime(FILE, FileTime.from(Instant.now().minusSeconds(100)));
                assertThat(send(self)).as("left behind").isEmpty();
                write("yield=off\n");
                Files.createLink(link, FILE);
                assertThat(send(self)).as("a hard link").isEmpty();
                Files.delete(FILE);
                Files.createSymbolicLink(FILE, link);
                assertThat(send(self)).as("a symbolic link").isEmpty();
                if (isRoot()) {
                    write("yield=off\n");
                    Files.setAttribute(FILE, "unix:uid", 65534);
                    assertThat(send(self)).as("of another user").isEmpty();
                }
                assertThat(System.getProperty("taskclock.agent")).contains("yield=count");
            } finally {
                Files.deleteIfExists(FILE);
                Files.deleteIfExists(link);
                self.detach();
            }
        }

        private static boolean isRoot() throws IOException {
            return (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid") == 0;
        }
    }

    @Test
    void shouldChangeNothingWhileTheKillSwitchIsOn() throws IOException, InterruptedException {
        JvmLauncher.Result result = attachable().run(KillSwitch.class);
        assertThat(result.exit()).as(result.toString()).isZero();
        assertThat(result.err())
                .isEqualTo("taskclock: agent: the kill switch is on: "
                        + "first set the bean's attribute Enabled to true, or detach\n");
    }

    static final class KillSwitch {
        public static void main(String[] args) throws Exception {
            VirtualMachine self = self();
            attach(self, "yield=count");
            TaskClockMXBean bean = AgentCheck.bean();
            String backend = bean.getBackend();
            bean.setEnabled(false);
            assertThat(attach(self, "yield=off")).startsWith("failed: the kill switch");
            assertThat(bean.getYieldMode()).isEqualTo("pass");
            assertThat(answersFromClock()).isFalse();
            attach(self, "detach");
            assertThat(attach(self, "")).contains("backend=" + backend, "threadmxbean=on,yield=pass");
            awaitAnswersFromClock();
            self.detach();
        }
    }

    @Test
    void shouldLeaveNothingBehind() throws IOException, InterruptedException {
        String rounds = System.getProperty("attach.rounds", "1000");
        // Otherwise, the JVM's own threads would start and end, and would be mistaken for the agent's.
        JvmLauncher jvm = attachable().option("-XX:+UseSerialGC", "-XX:-UseDynamicNumberOfCompilerThreads");
        jvm.run(Rounds.class, rounds).assertSilent();
    }

    static final class Rounds {
        private static final int WARM_UP = 300;
        /**
         * The JVM's method profiles are in Metaspace, too, and grow for a while. A leak of one class per round would
         * exceed this by a factor of two.
         */
        private static final long METASPACE_TOLERANCE = 1_000_000;
        /** Carriers of virtual threads start and end. */
        private static final long THREAD_TOLERANCE = 3;

        private static final long FILE_TOLERANCE = 3;

        private record Footprint(long metaspace, long threads, long files, long mappings) {
            static Footprint now() throws IOException {
                System.gc();
                System.gc();
                long metaspace = 0;
                for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans())
                    if (pool.getName().equals("Metaspace"))
                        metaspace = pool.getUsage().getUsed();
                return new Footprint(metaspace, countEntries("/proc/self/task"), openFiles(), libraryMappings());
            }

            private static long countEntries(String directory) throws IOException {
                try (Stream<Path> entries = Files.list(Path.of(directory))) {
                    return entries.count();
                }
            }

            /**
             * Returns the number of open files except sockets. The agent opens no sockets, but on JDK 21 and later each
             * attach leaves one open, even with an empty agent.
             */
            private static long openFiles() throws IOException {
                try (Stream<Path> entries = Files.list(Path.of("/proc/self/fd"))) {
                    return entries.filter(e -> !link(e).startsWith("socket:")).count();
                }
            }

            private static String link(Path file) {
                try {
                    return Files.readSymbolicLink(file).toString();
                } catch (IOException e) {
                    return "closed";
                }
            }

            private static long libraryMappings() throws IOException {
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
            for (int i = 0; i < 4 && JvmLauncher.feature() >= JdkVersions.VIRTUAL_THREADS; i++) {
                VirtualThreadStarter.start("", Rounds::yieldOften);
            }
            VirtualMachine self = self();
            for (int i = 0; i < WARM_UP; i++) round(self);
            Footprint before = Footprint.now();
            for (int i = 0; i < Integer.parseInt(args[0]); i++) round(self);
            Footprint after = Footprint.now();
            done = true;
            reader.join();
            yielder.join();
            assertThat(before.mappings).isPositive();
            assertThat(after.mappings).isEqualTo(before.mappings);
            assertThat(after.metaspace).isLessThan(before.metaspace + METASPACE_TOLERANCE);
            assertThat(after.threads).isBetween(1L, before.threads + THREAD_TOLERANCE);
            assertThat(after.files).isBetween(1L, before.files + FILE_TOLERANCE);
        }

        private static void round(VirtualMachine self) throws Exception {
            assertThat(attach(self, "yield=count"))
                    .contains("threadmxbean=on,yield=count")
                    .doesNotContain("unavailable");
            assertThat(attach(self, "detach"))
                    .contains("threadmxbean=off,yield=pass")
                    .doesNotContain("unavailable");
        }

        private static void read() {
            long[] ids = BEAN.getAllThreadIds();
            while (!done) {
                assertThat(BEAN.getCurrentThreadCpuTime()).isPositive();
                assertThat(BEAN.getCurrentThreadUserTime()).isNotNegative();
                assertThat(BEAN.getThreadUserTime(ids)).hasSameSizeAs(ids);
                // Leaves the processor to the thread that attaches.
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
