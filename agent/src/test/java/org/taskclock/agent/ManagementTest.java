// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.management.JMX;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;
import org.taskclock.TaskClock;
import org.taskclock.internal.JdkVersions;

/** Tests the bean, the report, and the Flight Recorder events. */
class ManagementTest {
    @Test
    void shouldOfferABeanWithOpenTypes() throws IOException, InterruptedException {
        JvmLauncher.withAgent("yield=count")
                .run(BeanClient.class, System.getProperty("agent.version"))
                .assertSilent();
    }

    static final class BeanClient {
        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = AgentCheck.bean();
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName name = new ObjectName("org.taskclock:type=TaskClock");
            for (MBeanAttributeInfo attribute : server.getMBeanInfo(name).getAttributes()) {
                assertThat(attribute.getDescriptor().getFieldValue("openType")).isNotNull();
                if (attribute.getName().equals("LastFailure")) continue; // null: there was none
                assertThat(server.getAttribute(name, attribute.getName())).isNotNull();
            }
            assertThat(bean.getLastFailure()).isNull();
            assertThat(bean.getFailures()).isZero();
            assertThat(bean.getVersion()).isEqualTo(args[0]);
            assertThat(bean.getBackends()).hasSize(5);
            assertThat(bean.getTickNanos()).isBetween(1_000_000L, 10_000_000L);
            assertThat(bean.getThreads())
                    .filteredOn(t -> t.getName().equals("main"))
                    .hasSize(1)
                    .allMatch(t -> t.getCpuNanos() > 0 && t.getUserNanos() + t.getSystemNanos() == t.getCpuNanos())
                    .allMatch(t -> t.getId() == Thread.currentThread().getId());
            assertThat(bean.getThreads()).anyMatch(t -> t.getId() == -1);
            assertThatThrownBy(() -> bean.setYieldMode("sometimes"))
                    .hasStackTraceContaining("yield must be one of [pass, count, off], not sometimes");
            bean.detach();
            assertThat(server.isRegistered(name)).isFalse();
        }
    }

    @Test
    @Timeout(60)
    @SuppressWarnings("BanJNDI")
    void shouldAnswerRemoteClients(@TempDir Path directory) throws Exception {
        Process process =
                JvmLauncher.withAgent("").start(directory.resolve("out"), directory.resolve("err"), BusyProgram.class);
        try {
            awaitReady(directory.resolve("out"));
            VirtualMachine jvm = VirtualMachine.attach(Long.toString(process.pid()));
            String address = jvm.startLocalManagementAgent();
            jvm.detach();
            try (JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(address))) {
                checkRemotely(connector.getMBeanServerConnection());
            }
        } finally {
            process.destroyForcibly().waitFor();
        }
        assertThat(directory.resolve("err")).isEmptyFile();
    }

    /** Waits until the program is running, because attaching to a JVM that is still starting can fail. */
    private static void awaitReady(Path out) throws IOException, InterruptedException {
        while (Files.size(out) == 0) Thread.sleep(10);
    }

    @Test
    @Timeout(60)
    void shouldReportToAttachedTools(@TempDir Path directory) throws Exception {
        Process process = JvmLauncher.withAgent("yield=count")
                .start(directory.resolve("out"), directory.resolve("err"), BusyProgram.class);
        Path request = Path.of("/tmp/.taskclock_report_" + process.pid());
        try {
            awaitReady(directory.resolve("out"));
            VirtualMachine jvm = VirtualMachine.attach(Long.toString(process.pid()));
            assertThat(jvm.getAgentProperties()).as("without a request file").doesNotContainKey("taskclock.report");
            Files.createFile(request);
            assertThat(jvm.getAgentProperties().getProperty("taskclock.report"))
                    .startsWith("{\"version\":\"")
                    .contains("\"yieldMode\":\"count\",\"platformYields\":", "\"virtualThreads\":[", "\"reportNanos\":")
                    .endsWith("}");
            // The properties that other code adds are still there.
            jvm.startLocalManagementAgent();
            assertThat(jvm.getAgentProperties())
                    .containsKeys("com.sun.management.jmxremote.localConnectorAddress", "sun.java.command");
            jvm.loadAgent(System.getProperty("agent.jar"), "detach");
            assertThat(jvm.getAgentProperties())
                    .doesNotContainKey("taskclock.report")
                    .containsKey("com.sun.management.jmxremote.localConnectorAddress");
            jvm.detach();
        } finally {
            Files.deleteIfExists(request);
            process.destroyForcibly().waitFor();
        }
    }

    @SuppressWarnings("BanJNDI") // the JVM is our own child
    private static void checkRemotely(MBeanServerConnection connection) throws Exception {
        ThreadMXBean threads = ManagementFactory.newPlatformMXBeanProxy(
                connection, ManagementFactory.THREAD_MXBEAN_NAME, ThreadMXBean.class);
        // The CPU time of the thread in the other JVM that answers this call.
        long cpu = threads.getCurrentThreadCpuTime();
        assertThat(threads.getCurrentThreadUserTime()).isBetween(0L, cpu + 1_000_000_000L);
        assertThatThrownBy(() -> threads.getThreadCpuTime(0))
                .hasStackTraceContaining(IllegalArgumentException.class.getName());
        long busy = 0;
        for (ThreadInfo info : threads.getThreadInfo(threads.getAllThreadIds(), 0))
            if (info.getThreadName().equals("busy")) busy = info.getThreadId();
        Set<Long> remainders = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            remainders.add(threads.getThreadUserTime(busy) % 10_000_000);
            Thread.sleep(15);
        }
        // The JVM's own times are multiples of 10 ms or of a tick.
        assertThat(remainders).hasSizeGreaterThan(ThreadTimes.isTextInThisJdk() ? 10 : 1);

        ObjectName name = new ObjectName(TaskClockMXBean.NAME);
        assertThat(connection.isRegistered(name)).isTrue();
        TaskClockMXBean bean = JMX.newMXBeanProxy(connection, name, TaskClockMXBean.class);
        assertThat(bean.isThreadMXBeanReplaced()).isTrue();
        assertThat(bean.getThreads())
                .extracting(TaskClockMXBean.ThreadTime::getName)
                .contains("busy");
        bean.setYieldMode("count");
        assertThat(bean.getYieldMode()).isEqualTo("count");
        // Clients such as JConsole do not have the agent's classes.
        CompositeData[] verdicts = (CompositeData[]) connection.getAttribute(name, "Backends");
        assertThat(verdicts).hasSize(5).allSatisfy(v -> assertThat(v.containsKey("reason"))
                .isTrue());
    }

    static final class BusyProgram {
        private static volatile double unusedSink;

        public static void main(String[] args) throws InterruptedException {
            AgentCheck.awaitDeferredFeatures();
            System.out.println("ready");
            new Thread(
                            () -> {
                                while (true) unusedSink = Math.sqrt(unusedSink + 1);
                            },
                            "busy")
                    .start();
        }
    }

    @Test
    void shouldNotCreateTheServerBeforeTheProgram(@TempDir Path directory) throws IOException, InterruptedException {
        Path loaded = directory.resolve("loaded");
        JvmLauncher.withAgent("")
                .option("-Xlog:class+load:file=" + loaded, "-Dloaded=" + loaded)
                .run(LoadedClasses.class)
                .assertSilent();
    }

    /** Creating the server initializes logging, which the program may want to configure first. */
    static final class LoadedClasses {
        public static void main(String[] args) throws Exception {
            String loaded = Files.readString(Path.of(System.getProperty("loaded")));
            assertThat(loaded)
                    .contains("java.lang.TaskClockHooks")
                    .doesNotContain("com.sun.jmx.mbeanserver.JmxMBeanServer ")
                    .doesNotContain("java.util.logging.LogManager ");
            assertThat(AgentCheck.bean().isThreadMXBeanReplaced()).isTrue();
        }
    }

    @Test
    void shouldRejectChangesIfReadOnly() throws IOException, InterruptedException {
        JvmLauncher.withAgent("bean=read").run(ReadOnly.class).assertSilent();
    }

    static final class ReadOnly {
        public static void main(String[] args) throws Exception {
            TaskClockMXBean bean = AgentCheck.bean();
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName name = new ObjectName(TaskClockMXBean.NAME);
            for (MBeanAttributeInfo attribute : server.getMBeanInfo(name).getAttributes()) {
                assertThat(attribute.isWritable()).as(attribute.getName()).isFalse();
            }
            assertThat(server.getMBeanInfo(name).getOperations()).isEmpty();
            List<ThrowingCallable> changes = List.of(
                    () -> bean.setEnabled(false),
                    () -> bean.setYieldMode("off"),
                    () -> bean.setVirtualYieldMode("off"),
                    () -> bean.setThreadMXBeanReplaced(false),
                    bean::detach);
            for (ThrowingCallable change : changes) {
                assertThatThrownBy(change).hasStackTraceContaining("the agent was started with bean=read");
            }
            assertThat(bean.isEnabled()).isTrue();
            assertThat(bean.getYieldMode()).isEqualTo("pass");
            assertThat(bean.isThreadMXBeanReplaced()).isTrue();
        }
    }

    @Test
    void shouldRecordEvents() throws IOException, InterruptedException {
        JvmLauncher.withAgent("yield=count").run(Events.class).assertSilent();
    }

    @SuppressWarnings("ThreadPriorityCheck") // yields are under test
    static final class Events {
        private static final long MIN_CPU_NANOS = 200_000_000;

        public static void main(String[] args) throws Exception {
            yieldFor(500_000_000L);
            // A recording contains the events only if it enables them.
            assertThat(record(List.of(), 1_500_000_000L)).isEmpty();
            // On JDK 17, the first periodic event may come a second after the recording has started.
            List<RecordedEvent> events =
                    record(List.of("org.taskclock.ThreadCpu", "org.taskclock.YieldSite"), 2_500_000_000L);
            Duration cpu = Duration.ZERO;
            long yields = 0;
            for (RecordedEvent event : events) {
                if (event.getEventType().getName().equals("org.taskclock.ThreadCpu")
                        && event.getString("threadName").equals("main")) {
                    assertThat(event.getDuration("userTime").plus(event.getDuration("systemTime")))
                            .isEqualTo(event.getDuration("cpuTime"));
                    assertThat(event.getDuration("cpuTime"))
                            .as("the first event covers only its period")
                            .isLessThan(Duration.ofMillis(500));
                    cpu = cpu.plus(event.getDuration("cpuTime"));
                    assertThat(event.getDuration("totalCpuTime")).isGreaterThan(cpu);
                }
                if (event.getEventType().getName().equals("org.taskclock.YieldSite")) {
                    assertThat(event.getString("site")).contains("ManagementTest$Events.yieldFor");
                    yields += event.getLong("yields");
                }
            }
            // Without the last period.
            assertThat(cpu).isGreaterThan(Duration.ofNanos(MIN_CPU_NANOS / 4));
            assertThat(yields).isGreaterThan(100);
        }

        private static List<RecordedEvent> record(List<String> enabled, long nanos) throws Exception {
            Path file = Files.createTempFile("events", ".jfr");
            try (Recording recording = new Recording()) {
                enabled.forEach(event -> recording.enable(event).withPeriod(Duration.ofMillis(200)));
                recording.start();
                yieldFor(nanos);
                recording.stop();
                recording.dump(file);
            }
            List<RecordedEvent> events = RecordingFile.readAllEvents(file);
            Files.delete(file);
            events.removeIf(event -> !event.getEventType().getName().startsWith("org.taskclock."));
            return events;
        }

        /** Yields for at least this time. On a busy machine, a thread that yields gets little CPU time. */
        private static void yieldFor(long nanos) {
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            long start = System.nanoTime();
            long cpu = threads.getCurrentThreadCpuTime();
            while (System.nanoTime() - start < nanos || threads.getCurrentThreadCpuTime() - cpu < MIN_CPU_NANOS)
                Thread.yield();
        }
    }

    @Test
    void shouldRecordAccounts() throws IOException, InterruptedException {
        JvmLauncher jvm = JvmLauncher.withAgent("");
        if (JvmLauncher.feature() >= JdkVersions.FOREIGN_FUNCTIONS) jvm.option("--enable-native-access=ALL-UNNAMED");
        jvm.run(Accounts.class).assertSilent();
    }

    /** Uses accounts of its own copy of the library, which knows nothing of events. */
    @SuppressWarnings("try") // sections are only opened and closed
    static final class Accounts {
        private static final String CPU = "org.taskclock.AccountCpu";
        private static final String SECTION = "org.taskclock.AccountSection";

        public static void main(String[] args) throws Exception {
            work(100);
            List<RecordedEvent> events;
            Path file = Files.createTempFile("accounts", ".jfr");
            try (Recording recording = new Recording()) {
                recording.enable(CPU).withPeriod(Duration.ofMillis(100));
                recording.enable(SECTION);
                recording.start();
                work(0);
                for (int i = 0; i < 10; i++) work(50);
                CpuAccounts.type("late").of("last").enter().close();
                // The recorder may begin with periodic events a second after the recording has started.
                Thread.sleep(1500);
                recording.stop();
                recording.dump(file);
                events = RecordingFile.readAllEvents(file);
            }
            Files.delete(file);
            Duration cpu = Duration.ZERO;
            Duration cpuOfSections = Duration.ZERO;
            Duration rest = Duration.ZERO;
            Duration restOfLate = Duration.ZERO;
            int sections = 0;
            for (RecordedEvent event : events) {
                if (!event.getEventType().getName().startsWith("org.taskclock.")) continue;
                if (event.getString("accountType").equals("late")) {
                    restOfLate = restOfLate.plus(event.getDuration("cpuTime"));
                    continue;
                }
                assertThat(event.getString("accountType")).isEqualTo("tenant");
                if (event.getString("accountName").equals("(unaccounted)")) {
                    rest = rest.plus(event.getDuration("cpuTime"));
                    continue;
                }
                assertThat(event.getString("accountName")).isEqualTo("acme");
                if (event.getEventType().getName().equals(SECTION)) {
                    sections++;
                    cpuOfSections = cpuOfSections.plus(event.getDuration("cpuTime"));
                    assertThat(event.getDuration("cpuTime")).isBetween(Duration.ofMillis(50), Duration.ofMillis(90));
                } else {
                    assertThat(event.getDuration("userTime").plus(event.getDuration("systemTime")))
                            .isEqualTo(event.getDuration("cpuTime"));
                    cpu = cpu.plus(event.getDuration("cpuTime"));
                }
            }
            assertThat(sections).isEqualTo(10);
            // Without the section before the recording, and with the short one that has no event.
            assertThat(cpu).isBetween(cpuOfSections, cpuOfSections.plusMillis(50));
            assertThat(rest).isPositive();
            assertThat(restOfLate)
                    .as("without what came before this type")
                    .isBetween(Duration.ofNanos(1), rest.plus(cpu));
        }

        private static void work(int millis) {
            try (CpuSection section = CpuAccounts.type("tenant").of("acme").enter()) {
                long end = TaskClock.cpuNanos() + millis * 1_000_000L;
                while (TaskClock.cpuNanos() < end) Thread.onSpinWait();
            }
        }
    }
}
