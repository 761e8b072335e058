// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.internal.JdkVersions;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.attach.TargetJvm;
import org.taskclock.monitor.attach.YieldCount;
import org.taskclock.testing.LoadJvm;

/** {@code taskclock yields} on a JVM that yields a known number of times. */
class YieldsTest {
    private static final long MEASURABLE_NANOS = 100_000_000;

    /** On a busy machine, each may take as long as a time slice of another thread. */
    private static final int YIELDS = 20_000;

    /** Yields when it is told to, and then waits until counting ends and until yields are turned off. */
    static final class Yielder {
        private Yielder() {}

        public static void main(String[] args) throws InterruptedException, IOException {
            System.out.println("ready");
            if (System.in.read() < 0) return;
            yieldInBothKindsOfThreads();
            System.out.println("yielded");
            await("taskclock.agent", "detached");
            System.out.println("detached");
            await("taskclock.agent", "yield=off");
            System.out.println("off");
            System.in.read(); // until killed
        }

        private static void yieldInBothKindsOfThreads() throws InterruptedException {
            Thread platform = new Thread(Yielder::yieldOften, "platform");
            platform.start();
            platform.join();
            if (Runtime.version().feature() < JdkVersions.VIRTUAL_THREADS) return;
            try {
                Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
                Object thread = Class.forName("java.lang.Thread$Builder")
                        .getMethod("start", Runnable.class)
                        .invoke(builder, (Runnable) Yielder::yieldOften);
                ((Thread) thread).join();
            } catch (ReflectiveOperationException e) {
                throw new LinkageError(e.getMessage(), e);
            }
        }

        @SuppressWarnings("ThreadPriorityCheck")
        private static void yieldOften() {
            for (int i = 0; i < YIELDS; i++) Thread.yield();
        }

        private static void await(String property, String part) throws InterruptedException {
            while (!System.getProperty(property, "").contains(part)) Thread.sleep(10);
        }
    }

    /** An agent of another version: its report has a different format, but it accepts options. */
    private static final String OTHER_AGENT = """
            package org.taskclock.agent;

            public class Agent {
                public static void agentmain(String options, java.lang.instrument.Instrumentation jvm) {
                    jdk.internal.vm.VMSupport.getAgentProperties().put("taskclock.report", "{}");
                    System.setProperty("taskclock.agent", "version=0 " + options.split(";")[0]);
                }
            }
            """;

    private static final String INTERNALS = "java.base/jdk.internal.vm=ALL-UNNAMED";

    @Test
    void shouldReportAnAgentOfAnotherVersion(@TempDir Path directory) throws Exception {
        Path source = Files.writeString(directory.resolve("Agent.java"), OTHER_AGENT);
        assertThat(ToolProvider.getSystemJavaCompiler()
                        .run(
                                null,
                                null,
                                null,
                                "--add-exports",
                                INTERNALS,
                                "-d",
                                directory.toString(),
                                source.toString()))
                .isZero();
        // This class is found before that of the attached agent.
        try (LoadJvm load = LoadJvm.start("-Xbootclasspath/a:" + directory, "--add-exports=" + INTERNALS, "idle")) {
            String pid = Long.toString(load.pid());
            String message = "another version";
            CliResult yields = CliResult.runHere("yields", pid, "--for", "100ms");
            assertThat(yields.exitCode()).isEqualTo(Main.FAILED);
            assertThat(yields.out()).isEmpty();
            assertThat(yields.err())
                    .startsWith("taskclock: process " + pid + ": ")
                    .contains(message)
                    .hasLineCount(1);
            // The command has detached the agent.
            assertThat(TargetJvm.of(load.pid()).state()).isEqualTo("version=0 detach");

            assertThat(CliResult.runHere("top", pid, "0.1", "1").out()).contains(message);
            CliResult check = CliResult.runHere("check", pid, "--yields", "1/s", "--for", "100ms");
            assertThat(check.exitCode()).isEqualTo(Main.FAILED);
            assertThat(check.err()).isEqualTo(yields.err());
            // The agent was already loaded, so it is not detached.
            assertThat(TargetJvm.of(load.pid()).state()).isEqualTo("version=0 yield=pass");
        }
    }

    private static AgentReport report(
            long seconds, long yields, long yieldNanos, String yielders, long siteYields, long virtualYields)
            throws IOException {
        return AgentReport.parse(
                "{pools: [], virtualThreads: [], carriers: [], accounts: [], openSections: [], health: {features: []}, yieldMode: count,"
                        + "elapsedNanos: " + seconds * 1_000_000_000 + ", platformYields: " + yields
                        + ", virtualYields: "
                        + virtualYields + ", platformYieldNanos: " + yieldNanos + ", yielders: [" + yielders
                        + "], yieldSites: [{yields: " + siteYields + ", virtualYields: 0, stack: [a]}, {yields: "
                        + siteYields
                        + ", virtualYields: 0, stack: [b]}, {yields: " + 2 * virtualYields + ", virtualYields: "
                        + 2 * virtualYields + ", stack: [c]}]}");
    }

    @Test
    void shouldReportNoMoreThanTheClocksOfTheThreads() throws IOException {
        AgentReport start = report(
                10,
                1_000,
                1_000_000_000L,
                "{tid: 7, yields: 500, yieldNanos: 500000000, cpuNanos: 4000000000}",
                500,
                0);
        // Thread 7 used 2 s, although 8 s were extrapolated for its yields. Thread 8 used no more than it could, thread
        // 9 has ended, and 1 s is that of threads that are not listed.
        AgentReport end = report(
                15,
                11_000,
                11_300_000_000L,
                "{tid: 7, yields: 8500, yieldNanos: 8500000000, cpuNanos: 6000000000},"
                        + "{tid: 8, yields: 100, yieldNanos: 1000000000, cpuNanos: 1500000000},"
                        + "{tid: 9, yields: 100, yieldNanos: 300000000, cpuNanos: -1}",
                10_500,
                100);
        YieldCount result = YieldCount.difference(1, start, end);
        assertThat(result.platformPercent()).isCloseTo(100 * 4.3 / 5, within(1e-6));
        assertThat(result.platformPerSecond()).isEqualTo(2_000);
        assertThat(result.virtualPerSecond()).isEqualTo(20);
        // The samples of each site stand for as many yields as all threads made, so each counts half.
        assertThat(result.callSites())
                .extracting(YieldCount.CallSite::perSecond)
                .containsExactly(1_000.0, 1_000.0, 20.0);
        assertThat(result.callSites())
                .extracting(YieldCount.CallSite::virtualPerSecond)
                .containsExactly(0.0, 0.0, 20.0);
        assertThat(result.callSites().get(0).cpuNanosPerSecond()).isCloseTo(0.43e9, within(1.0));
        assertThat(result.callSites().get(2).cpuNanosPerSecond()).isNegative();
    }

    /**
     * While more threads are runnable than there are processors, a yield that is measured takes much longer than the
     * others. The agent's records outlive each of these commands.
     */
    @Test
    void shouldReportNoMoreThanOneThreadUsesOnABusyMachine() throws Exception {
        List<Process> spinners = new ArrayList<>();
        double maxPercent = 0;
        try (LoadJvm load = LoadJvm.start("yield")) {
            for (int i = 1; i < Runtime.getRuntime().availableProcessors(); i++)
                spinners.add(new ProcessBuilder("sh", "-c", "while :; do :; done").start());
            for (int run = 0; run < 3; run++) {
                LoadJvm.Reference start = load.reference();
                CliResult child = CliResult.runHere("yields", Long.toString(load.pid()), "--for", "1s", "--json");
                long usedNanos = load.reference().cpuSince(start, "yielder");
                assertThat(child.exitCode()).as(child.err()).isEqualTo(Main.OK);
                YieldCount result = new Gson().fromJson(child.out(), YieldCount.class);
                maxPercent = Math.max(maxPercent, result.platformPercent());
                // A thread that got hardly any time may not have yielded.
                if (usedNanos > MEASURABLE_NANOS)
                    assertThat(result.platformPercent()).isPositive();
                assertThat(result.platformPercent() / 100 * result.seconds() * 1e9)
                        .isLessThanOrEqualTo((double) usedNanos);
                double atCallSites = result.callSites().stream()
                        .mapToDouble(YieldCount.CallSite::cpuNanosPerSecond)
                        .sum();
                assertThat(atCallSites).isLessThanOrEqualTo(result.platformPercent() * 1e7 * 1.000001);
            }
            assertThat(maxPercent).isPositive();
        } finally {
            spinners.forEach(Process::destroyForcibly);
        }
    }

    @Test
    void shouldReportWhyTheAgentCannotCount() throws Exception {
        try (LoadJvm load = LoadJvm.start("-Dtaskclock.library.path=/nonexistent", "idle")) {
            String pid = Long.toString(load.pid());
            String reason = "taskclock: process " + pid + ": agent: ";
            for (CliResult child : List.of(
                    CliResult.run("yields", pid, "--for", "100ms"),
                    CliResult.run("check", pid, "--yields", "1/s", "--for", "100ms"))) {
                assertThat(child.exitCode()).isEqualTo(Main.FAILED);
                assertThat(child.out()).isEmpty();
                assertThat(child.err())
                        .startsWith(reason)
                        .contains("/nonexistent")
                        .hasLineCount(1);
            }
        }
    }

    @Test
    void shouldLimitTheCallSites() throws Exception {
        List<YieldCount.CallSite> callSites = new ArrayList<>();
        for (int i = 1; i <= 12; i++) {
            String site = "Site" + i + ".run";
            callSites.add(new YieldCount.CallSite(site, 100 - i, 0, 1e6, List.of(site)));
        }
        YieldCount result = new YieldCount(1, 5, 1_122, 0, 1.2, 0, false, callSites);
        assertThat(sites(YieldsCommand.text(result, 0))).isEqualTo(12);
        assertThat(sites(YieldsCommand.text(result, 3))).isEqualTo(3);
        assertThat(sites(YieldsCommand.text(result, 20))).isEqualTo(12);

        try (LoadJvm load = LoadJvm.start("yield")) {
            CliResult all;
            // Few yields are sampled, and on a busy machine there are few.
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(CliResult.TIMEOUT_SECONDS);
            do {
                all = CliResult.runHere("yields", Long.toString(load.pid()), "--for", "500ms", "--limit", "0");
                assertThat(all.exitCode()).as(all.err()).isEqualTo(Main.OK);
            } while (!all.out().contains("call site\n") && System.nanoTime() < end);
            assertThat(all.out()).contains("call site\n", "LoadProgram.yieldForever(");
        }
    }

    private static long sites(String text) {
        return text.lines().filter(line -> line.endsWith(".run")).count();
    }

    @Test
    void shouldCountYieldsAndRestoreTheJvm() throws IOException, InterruptedException {
        Process target = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Yielder.class.getName())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader output = target.inputReader()) {
            assertThat(output.readLine()).isEqualTo("ready");
            String pid = Long.toString(target.pid());
            YieldCount counted = YieldCount.of(target.pid(), Duration.ZERO, duration -> {
                try {
                    target.getOutputStream().write('\n');
                    target.getOutputStream().flush();
                    assertThat(output.readLine()).isEqualTo("yielded");
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            assertThat(output.readLine()).isEqualTo("detached");

            double seconds = counted.seconds();
            assertThat(Math.round(counted.platformPerSecond() * seconds)).isEqualTo(YIELDS);
            boolean virtual = Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS;
            assertThat(Math.round(counted.virtualPerSecond() * seconds)).isEqualTo(virtual ? YIELDS : 0);
            assertThat(counted.platformPercent()).isPositive();
            assertThat(counted.callSites().get(0).site()).contains("YieldsTest$Yielder.yieldOften(YieldsTest.java:");
            // Call sites are sampled, and the last yields are not included.
            double atCallSites = counted.callSites().stream()
                    .mapToDouble(YieldCount.CallSite::perSecond)
                    .sum();
            assertThat(atCallSites * seconds).isBetween(0.5 * YIELDS, 1.05 * YIELDS * (virtual ? 2 : 1));

            CliResult off = CliResult.runHere("yields", pid, "--off");
            assertThat(off.exitCode()).isEqualTo(Main.OK);
            assertThat(off.out()).contains("taskclock detach " + pid);
            assertThat(output.readLine()).isEqualTo("off");
        } finally {
            target.destroyForcibly().waitFor();
        }
    }
}
