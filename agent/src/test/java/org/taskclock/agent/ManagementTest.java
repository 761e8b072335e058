// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What others can read: the bean and the events. */
class ManagementTest {
    @Test
    void shouldOfferABeanOfOpenTypes() throws IOException, InterruptedException {
        Jvm.with("yield=count").run(Bean.class).silently();
    }

    static final class Bean {
        public static void main(String[] args) throws Exception {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName name = new ObjectName("org.taskclock:type=TaskClock");
            for (MBeanAttributeInfo attribute : server.getMBeanInfo(name).getAttributes()) {
                assertThat(attribute.getDescriptor().getFieldValue("openType")).isNotNull();
                assertThat(server.getAttribute(name, attribute.getName())).isNotNull();
            }
            TaskClockMXBean bean = YieldTest.bean();
            assertThat(bean.getVersion()).startsWith(System.getProperty("project.version", "0."));
            assertThat(bean.getRungs()).hasSize(4);
            assertThat(bean.getTickNanos()).isBetween(1_000_000L, 10_000_000L);
            assertThat(bean.getThreads())
                    .filteredOn(t -> t.getName().equals("main"))
                    .hasSize(1)
                    .allMatch(t -> t.getCpuNanos() > 0 && t.getUserNanos() + t.getSystemNanos() == t.getCpuNanos())
                    .allMatch(t -> t.getId() == Thread.currentThread().getId());
            assertThat(bean.getThreads()).anyMatch(t -> t.getId() == -1);
            assertThatThrownBy(() -> bean.setYieldMode("sometimes"))
                    .hasStackTraceContaining("yield is one of [pass, count, off], not sometimes");
            bean.detach();
            assertThat(server.isRegistered(name)).isFalse();
        }
    }

    @Test
    void shouldNotMakeTheServerBeforeTheProgram(@TempDir Path directory) throws IOException, InterruptedException {
        Path loaded = directory.resolve("loaded");
        Jvm.with("")
                .option("-Xlog:class+load:file=" + loaded, "-Dloaded=" + loaded)
                .run(NoServer.class)
                .silently();
    }

    /** Making it starts the logging, which programs want to set up first. */
    static final class NoServer {
        public static void main(String[] args) throws Exception {
            String loaded = Files.readString(Path.of(System.getProperty("loaded")));
            assertThat(loaded)
                    .contains("java.lang.TaskClockHooks")
                    .doesNotContain("com.sun.jmx.mbeanserver.JmxMBeanServer ")
                    .doesNotContain("java.util.logging.LogManager ");
            assertThat(ManagementFactory.getPlatformMBeanServer()
                            .isRegistered(new ObjectName("org.taskclock:type=TaskClock")))
                    .isTrue();
        }
    }

    @Test
    void shouldRecordEvents() throws IOException, InterruptedException {
        Jvm.with("yield=count").run(Events.class).silently();
    }

    @SuppressWarnings("ThreadPriorityCheck") // yielding is what is tested
    static final class Events {
        public static void main(String[] args) throws Exception {
            Path file = Files.createTempFile("events", ".jfr");
            try (Recording recording = new Recording()) {
                recording.start();
                long end = System.nanoTime() + 2_500_000_000L;
                while (System.nanoTime() - end < 0) Thread.yield();
                recording.stop();
                recording.dump(file);
            }
            List<RecordedEvent> events = RecordingFile.readAllEvents(file);
            Files.delete(file);
            long cpu = 0;
            long yields = 0;
            for (RecordedEvent event : events) {
                if (event.getEventType().getName().equals("org.taskclock.ThreadCpu")
                        && event.getString("threadName").equals("main")) {
                    assertThat(event.getDuration("userTime").plus(event.getDuration("systemTime")))
                            .isEqualTo(event.getDuration("cpuTime"));
                    cpu = Math.max(cpu, event.getDuration("totalCpuTime").toNanos());
                }
                if (event.getEventType().getName().equals("org.taskclock.YieldSite")) {
                    assertThat(event.getString("site")).contains("ManagementTest$Events.main");
                    yields += event.getLong("yields");
                }
            }
            assertThat(cpu).isGreaterThan(100_000_000L);
            assertThat(yields).isGreaterThan(1_000);
        }
    }
}
