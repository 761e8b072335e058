// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.taskclock.testing.LoadJvm;

/** {@code taskclock yields} on a JVM that yields a known number of times. */
@Isolated("other tests would affect its measurements and the list of running JVMs")
class YieldsTest {
    private static final int YIELDS = 100_000;

    /** Waits until counting starts, yields, and then waits until counting ends and until yields are turned off. */
    static final class Yielder {
        private Yielder() {}

        public static void main(String[] args) throws InterruptedException, IOException {
            System.out.println("ready");
            await("taskclock.agent", "yield=count");
            Thread.sleep(2_000); // the command requests its first report in this time
            yieldInBothKindsOfThreads();
            System.out.println("yielded");
            await("taskclock.agent", "detached");
            System.out.println("detached");
            await("taskclock.agent", "yield=off");
            System.out.println("off");
            System.in.read(); // stay alive until killed, because the command is still running
        }

        private static void yieldInBothKindsOfThreads() throws InterruptedException {
            Thread platform = new Thread(Yielder::yieldOften, "platform");
            platform.start();
            platform.join();
            if (Runtime.version().feature() < 21) return;
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
            CliResult yields = CliResult.run("yields", pid, "--for", "100ms");
            assertThat(yields.exitCode()).isEqualTo(Main.FAILED);
            assertThat(yields.out()).isEmpty();
            assertThat(yields.err())
                    .startsWith("taskclock: process " + pid + ": ")
                    .contains(message)
                    .hasLineCount(1);
            // The command has detached the agent.
            assertThat(TargetJvm.of(load.pid()).state()).isEqualTo("version=0 detach");

            assertThat(CliResult.run("top", pid, "0.1", "1").out()).contains(message);
            CliResult check = CliResult.run("check", pid, "--yields", "1/s", "--for", "100ms");
            assertThat(check.exitCode()).isEqualTo(Main.FAILED);
            assertThat(check.err()).contains("did not report yields: ", message);
            // The agent was already loaded, so it is not detached.
            assertThat(TargetJvm.of(load.pid()).state()).isEqualTo("version=0 yield=pass");
        }
    }

    @Test
    void shouldLimitTheCallSites() throws Exception {
        List<YieldsCommand.CallSite> callSites = new ArrayList<>();
        for (int i = 1; i <= 12; i++) {
            String site = "Site" + i + ".run";
            callSites.add(new YieldsCommand.CallSite(site, 100 - i, 0, 1e6, List.of(site)));
        }
        YieldsCommand.Result result = new YieldsCommand.Result(1, 5, 1_122, 0, 1.2, 0, false, callSites);
        assertThat(sites(YieldsCommand.text(result, 0))).isEqualTo(12);
        assertThat(sites(YieldsCommand.text(result, 3))).isEqualTo(3);
        assertThat(sites(YieldsCommand.text(result, 20))).isEqualTo(12);

        try (LoadJvm load = LoadJvm.start("yield")) {
            CliResult all = CliResult.run("yields", Long.toString(load.pid()), "--for", "1s", "--limit", "0");
            assertThat(all.exitCode()).as(all.err()).isEqualTo(Main.OK);
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
            CliResult counted = CliResult.run("yields", pid, "--for", "6s", "--json");
            assertThat(counted.exitCode()).as(counted.err()).isEqualTo(Main.OK);
            assertThat(output.readLine()).isEqualTo("yielded");
            assertThat(output.readLine()).isEqualTo("detached");

            JsonObject json = JsonParser.parseString(counted.out()).getAsJsonObject();
            double seconds = json.get("seconds").getAsDouble();
            assertThat(Math.round(json.get("platformPerSecond").getAsDouble() * seconds))
                    .isEqualTo(YIELDS);
            boolean virtual = Runtime.version().feature() >= 21;
            assertThat(Math.round(json.get("virtualPerSecond").getAsDouble() * seconds))
                    .isEqualTo(virtual ? YIELDS : 0);
            assertThat(json.get("platformPercent").getAsDouble()).isPositive();
            JsonObject callSite = json.getAsJsonArray("callSites").get(0).getAsJsonObject();
            assertThat(callSite.get("site").getAsString()).contains("YieldsTest$Yielder.yieldOften(YieldsTest.java:");
            // Call sites are sampled, and the last yields are not included.
            double atCallSites = json.getAsJsonArray("callSites").asList().stream()
                    .mapToDouble(site -> site.getAsJsonObject().get("perSecond").getAsDouble())
                    .sum();
            assertThat(atCallSites * seconds).isBetween(0.5 * YIELDS, 1.05 * YIELDS * (virtual ? 2 : 1));

            CliResult off = CliResult.run("yields", pid, "--off");
            assertThat(off.exitCode()).isEqualTo(Main.OK);
            assertThat(off.out()).contains("taskclock detach " + pid);
            assertThat(output.readLine()).isEqualTo("off");
        } finally {
            target.destroyForcibly().waitFor();
        }
    }
}
