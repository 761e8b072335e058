// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.EventSettings;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;

/** Tests the Flight Recorder events about sections, in a child JVM with two copies of the library. */
class AccountEventsTest {
    @Test
    void shouldRecordEachLongSectionOnce() {
        assertThat(ChildJvm.run(Program.class).succeeded().out()).isEqualTo("""
                not enabled: []
                default threshold: [tenant acme 30, tenant acme 30]
                lower threshold: [tenant acme 5, tenant acme 30, tenant acme 5, tenant acme 30]
                one copy closed: [tenant acme 30, tenant acme 30]
                both closed: []
                started twice: [tenant acme 30, tenant acme 30]
                """);
    }

    /** Runs sections of both copies in several recordings. */
    @SuppressWarnings("try") // sections are only opened and closed
    static final class Program {
        private static final String EVENT = "org.taskclock.AccountSection";

        public static void main(String[] args) throws Exception {
            URL jar = Path.of(System.getProperty("test.jar")).toUri().toURL();
            try (URLClassLoader loader = new URLClassLoader(new URL[] {jar}, ClassLoader.getPlatformClassLoader())) {
                Object other = accounts(loader).getMethod("type", String.class).invoke(null, "tenant");
                AccountEvents events = AccountEvents.start();
                AutoCloseable otherEvents = (AutoCloseable) Class.forName("org.taskclock.AccountEvents", true, loader)
                        .getMethod("start")
                        .invoke(null);
                print("not enabled", other, null, false);
                print("default threshold", other, null, true);
                print("lower threshold", other, "2 ms", true);
                events.close();
                print("one copy closed", other, null, true);
                otherEvents.close();
                print("both closed", other, null, true);
                AccountEvents first = AccountEvents.start();
                try (AccountEvents second = AccountEvents.start()) {
                    assertThat(second).isNotSameAs(first);
                    first.close();
                    print("started twice", other, null, true);
                }
            }
        }

        private static Class<?> accounts(ClassLoader loader) throws ClassNotFoundException {
            return Class.forName("org.taskclock.CpuAccounts", true, loader);
        }

        /** Prints the type, the name, and the CPU time, rounded down to 5 ms, of each event. */
        private static void print(String what, Object other, String threshold, boolean isEnabled) throws Exception {
            Path file = Files.createTempFile("sections", ".jfr");
            try (Recording recording = new Recording()) {
                if (isEnabled) {
                    EventSettings settings = recording.enable(EVENT);
                    if (threshold != null) settings.with("cpuThreshold", threshold);
                }
                recording.start();
                for (int millis : new int[] {0, 5, 30}) work(millis);
                for (int millis : new int[] {0, 5, 30}) workOf(other, millis);
                recording.stop();
                recording.dump(file);
            }
            List<String> found = new ArrayList<>();
            List<RecordedEvent> events = RecordingFile.readAllEvents(file);
            Files.delete(file);
            for (RecordedEvent event : events) {
                if (!event.getEventType().getName().equals(EVENT)) continue;
                assertThat(event.getThread().getJavaName()).isEqualTo("main");
                Duration cpu = event.getDuration("cpuTime");
                found.add(event.getString("accountType") + " " + event.getString("accountName") + " "
                        + cpu.toMillis() / 5 * 5);
            }
            System.out.println(what + ": " + found);
        }

        private static void work(int millis) {
            try (CpuSection section = CpuAccounts.type("tenant").of("acme").enter()) {
                burn(millis);
            }
        }

        private static void workOf(Object type, int millis) throws Exception {
            Object account = type.getClass().getMethod("of", String.class).invoke(type, "acme");
            Class<?> accountClass = account.getClass().getSuperclass();
            try (AutoCloseable section =
                    (AutoCloseable) accountClass.getMethod("enter").invoke(account)) {
                burn(millis);
            }
        }

        /** Uses this CPU time, and less than a millisecond more. */
        private static void burn(int millis) {
            long end = TaskClock.cpuNanos() + millis * 1_000_000L;
            while (millis > 0 && TaskClock.cpuNanos() < end) Thread.onSpinWait();
        }
    }
}
