// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.internal.JdkVersions;

/** Tests the library as a module of a modular application. */
class ModulePathTest {
    private static final String JAR = System.getProperty("test.jar");
    private static final String EXPECTED = ExpectedBackend.name();
    private static final int FEATURE = Runtime.version().feature();

    /** Uses everything that an application can use if it requires only the library's module. */
    private static final String MAIN = """
            package com.acme;

            import com.sun.management.ThreadMXBean;
            import org.taskclock.CpuTime;
            import org.taskclock.TaskClock;

            public class Main {
                public static void main(String[] arguments) {
                    ThreadMXBean view = TaskClock.threadMXBean();
                    CpuTime now = TaskClock.now();
                    boolean works = now.isKnown() && view.getCurrentThreadCpuTime() >= now.cpuNanos();
                    System.out.println((works ? "works on " : "fails on ") + TaskClock.status());
                }
            }
            """;

    /** Starts events, and prints the setting that only the library's internal package defines. */
    private static final String EVENTS = """
            package com.acme;

            import jdk.jfr.FlightRecorder;
            import jdk.jfr.Recording;
            import org.taskclock.AccountEvents;
            import org.taskclock.CpuAccounts;

            public class Main {
                public static void main(String[] arguments) throws Exception {
                    AccountEvents.start();
                    try (var recording = new Recording()) {
                        recording.enable("org.taskclock.AccountSection").with("cpuThreshold", "0 ns");
                        recording.start();
                        CpuAccounts.type("tenant").of("acme").enter().close();
                        FlightRecorder.getFlightRecorder().getEventTypes().stream()
                                .filter(type -> type.getName().equals("org.taskclock.AccountSection"))
                                .flatMap(type -> type.getSettingDescriptors().stream())
                                .filter(setting -> setting.getName().equals("cpuThreshold"))
                                .forEach(setting -> System.out.println(setting.getDefaultValue()));
                    }
                }
            }
            """;

    @TempDir
    Path directory;

    @BeforeEach
    void compileApplication() throws IOException {
        compile("requires org.taskclock;", MAIN);
    }

    private void compile(String requires, String source) throws IOException {
        Path module =
                Files.writeString(directory.resolve("module-info.java"), "module com.acme { " + requires + " }\n");
        Path main = Files.writeString(directory.resolve("Main.java"), source);
        StringWriter output = new StringWriter();
        int result = ToolProvider.findFirst("javac")
                .orElseThrow()
                .run(
                        new PrintWriter(output),
                        new PrintWriter(output),
                        "-Xlint:all,-requires-automatic",
                        "-Werror",
                        "--module-path",
                        JAR,
                        "-d",
                        directory.resolve("app").toString(),
                        module.toString(),
                        main.toString());
        assertThat(result).as(output.toString()).isZero();
    }

    @Test
    void shouldWorkWithoutWarnings() {
        List<String> options =
                FEATURE >= JdkVersions.FOREIGN_FUNCTIONS ? List.of("--enable-native-access=org.taskclock") : List.of();
        ChildJvm child = runApplication(options);
        assertWorks(child);
        assertThat(child.err()).isEmpty();
    }

    @Test
    void shouldPrintOnlyTheJvmWarningIfNativeAccessIsNotEnabled() {
        assumeTrue(
                FEATURE >= JdkVersions.NATIVE_ACCESS_WARNING,
                "loading a library is not a restricted method before JDK 24");
        assumeTrue(!EXPECTED.equals("mxbean"), "no native library for this system");
        ChildJvm child = runApplication(List.of());
        assertWorks(child);
        assertThat(child.err()).contains("--enable-native-access=org.taskclock");
        assertThat(child.err().lines().filter(line -> !line.isBlank())).allMatch(line -> line.startsWith("WARNING: "));
    }

    @Test
    void shouldReportTheRemedyIfNativeAccessIsDenied() {
        assumeTrue(FEATURE >= JdkVersions.NATIVE_ACCESS_WARNING, "--illegal-native-access requires JDK 24");
        assumeTrue(!EXPECTED.equals("mxbean"), "no native library for this system");
        ChildJvm child = runApplication(List.of("--illegal-native-access=deny"));
        assertThat(child.succeeded().out()).startsWith("works on ClockStatus[backend=mxbean");
        assertThat(child.out()).contains("--enable-native-access").doesNotContain("noexec");
    }

    /** If native access is enabled for some modules, JDK 22 and 23 deny it to all others. Later JDKs only warn. */
    @Test
    void shouldWorkIfOnlyOtherModulesHaveNativeAccess() {
        assumeTrue(FEATURE >= JdkVersions.FOREIGN_FUNCTIONS, "JNI is used before JDK 22");
        assertThat(runApplication(List.of("--enable-native-access=com.acme"))
                        .succeeded()
                        .out())
                .startsWith("works on ");
    }

    @Test
    void shouldWriteEventsIfTheApplicationIncludesFlightRecorder() throws IOException {
        compile("requires org.taskclock; requires jdk.jfr;", EVENTS);
        assertThat(runApplication(List.of()).succeeded().out()).contains("20 ms");
    }

    @Test
    void shouldHaveTheDocumentedModuleDescriptor() {
        ChildJvm child =
                ChildJvm.run(List.of(ChildJvm.java(), "--module-path", JAR, "--describe-module", "org.taskclock"));
        assertThat(child.succeeded().out().lines().skip(1))
                .containsExactlyInAnyOrder(
                        "contains org.taskclock.internal",
                        "exports org.taskclock",
                        "requires java.base mandated",
                        "requires java.management transitive",
                        "requires jdk.jfr static",
                        "requires jdk.management transitive");
        assertThat(child.out()).startsWith("org.taskclock@").doesNotContain("automatic");
    }

    private ChildJvm runApplication(List<String> options) {
        List<String> command = new ArrayList<>(List.of(ChildJvm.java()));
        command.addAll(options);
        command.addAll(List.of("--module-path", JAR + ":" + directory.resolve("app"), "-m", "com.acme/com.acme.Main"));
        return ChildJvm.run(command);
    }

    private static void assertWorks(ChildJvm child) {
        assertThat(child.succeeded().out()).startsWith("works on ClockStatus[backend=" + EXPECTED + ",");
        String binding = EXPECTED.equals("mxbean") ? "none" : FEATURE >= JdkVersions.FOREIGN_FUNCTIONS ? "FFM" : "JNI";
        assertThat(child.out()).contains("binding=" + binding + ",");
    }
}
