// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.taskclock.testing.LoadJvm;

/** JVMs in other namespaces, with CPU limits, or hidden, as in containers. Requires root, but no container engine. */
@Tag("slow17")
class ContainerTest {
    private static final List<String> NAMESPACES =
            List.of("unshare", "--pid", "--mount", "--fork", "--mount-proc", "--kill-child");
    private static final String BUSY = "a busy thread with a long name, number 1";

    /** Skips the test if the machine does not permit running commands with this prefix. */
    private static void assumePermitted(List<String> prefix) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(prefix);
        command.add("true");
        int exit;
        try {
            exit = new ProcessBuilder(command).start().waitFor();
        } catch (IOException e) {
            exit = -1;
        }
        assumeTrue(exit == 0, "NOT RUN: not permitted: " + String.join(" ", prefix));
    }

    private static CliResult runSuccessfully(String... arguments) throws Exception {
        CliResult child = CliResult.runHere(arguments);
        assertThat(child.exitCode()).as(child.toString()).isEqualTo(Main.OK);
        return child;
    }

    /** In its namespaces, the JVM has process id 1 and its own /tmp. */
    @Test
    void shouldWatchAJvmInOtherNamespaces() throws Exception {
        assumePermitted(NAMESPACES);
        assumeTrue(
                !Path.of("").toAbsolutePath().startsWith("/tmp"),
                "NOT RUN: the build is in /tmp, which the test hides");
        List<String> prefix = new ArrayList<>(NAMESPACES);
        prefix.addAll(List.of("sh", "-c", "mount -t tmpfs none /tmp && exec \"$@\"", "sh"));
        try (LoadJvm load = LoadJvm.startWithPrefix(prefix, "busy", "kernel", "yield", "idle=3")) {
            String pid = Long.toString(load.pid());
            assertThat(runSuccessfully("top", "--json", "--limit", "0", pid, "0.5", "2")
                            .out()
                            .lines()
                            .map(line -> JsonParser.parseString(line).getAsJsonObject())
                            .filter(row -> row.get("name").getAsString().equals(BUSY)))
                    .hasSize(2)
                    .allSatisfy(row -> assertThat(row.get("javaId").getAsLong()).isPositive());

            assertThat(runSuccessfully("attach", pid).out()).contains("threadmxbean=on");
            assertThat(Path.of("/proc/" + pid + "/root/tmp").toFile().list())
                    .noneMatch(name -> name.startsWith("taskclock"));
            JsonObject yields = JsonParser.parseString(runSuccessfully("yields", pid, "--for", "1s", "--json")
                            .out())
                    .getAsJsonObject();
            assertThat(yields.get("platformPerSecond").getAsDouble()).isGreaterThan(1);
            runSuccessfully("detach", pid);
        }
    }

    /** Three busy threads share a limit of one fifth of a processor. */
    @Test
    void shouldReportACpuLimit() throws Exception {
        // cgroup v1 has a mount for cpu, v2 a single one.
        Path v1 = Path.of("/sys/fs/cgroup/cpu");
        boolean isV2 = Files.exists(Path.of("/sys/fs/cgroup/cgroup.controllers"));
        Path group = (isV2 ? v1.getParent() : v1)
                .resolve("taskclock-test-" + ProcessHandle.current().pid());
        try {
            Files.createDirectory(group);
            if (isV2) Files.writeString(group.resolve("cpu.max"), "20000 100000");
            else Files.writeString(group.resolve("cpu.cfs_quota_us"), "20000");
        } catch (IOException e) {
            Files.deleteIfExists(group);
            assumeTrue(false, "NOT RUN: cannot create a control group: " + e);
        }
        List<String> prefix = List.of("sh", "-c", "echo $$ > " + group + "/cgroup.procs && exec \"$@\"", "sh");
        try (LoadJvm load = LoadJvm.startWithPrefix(prefix, "busy=3")) {
            String pid = Long.toString(load.pid());
            String text =
                    runSuccessfully("top", "-b", "--limit", "1", pid, "1", "2").out();
            // Three threads with the time of 0.2 processors: the run queues are throttled for longer than the interval.
            Matcher throttled =
                    Pattern.compile("% of the limit.*, throttled ([0-9.]+) %").matcher(text);
            assertThat(throttled.find()).as(text).isTrue();
            assertThat(Double.parseDouble(throttled.group(1))).isBetween(50.0, 100.0);
            CliResult exceeding = CliResult.runHere("check", pid, "--cpu", "80% of limit", "--for", "2s");
            assertThat(exceeding.exitCode()).as(exceeding.toString()).isEqualTo(Main.THRESHOLD);
            assertThat(exceeding.out()).contains("of the limit of 0.2", "! throttled: ");
            CliResult within = CliResult.runHere("check", pid, "--cpu", "50%", "--for", "1s");
            assertThat(within.exitCode()).as(within.toString()).isEqualTo(Main.OK);
        } finally {
            for (int i = 0;
                    i < 100 && !Files.readString(group.resolve("cgroup.procs")).isEmpty();
                    i++) Thread.sleep(20);
            Files.delete(group);
        }
    }

    /** With hidepid=2, /proc does not show other users' processes. */
    @Test
    void shouldDistinguishAHiddenJvmFromAMissingOne() throws Exception {
        List<String> prefix = List.of(
                "unshare",
                "--mount",
                "sh",
                "-c",
                "mount -t proc -o hidepid=2 proc /proc"
                        + " && exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \"$@\"",
                "sh");
        assumePermitted(prefix);
        Path jar = Files.createTempFile("taskclock-cli", ".jar");
        try (LoadJvm load = LoadJvm.start("idle")) {
            Files.write(jar, Files.readAllBytes(Path.of(System.getProperty("cli.jar"))));
            assertThat(jar.toFile().setReadable(true, false)).isTrue();
            for (String command : List.of("top", "attach")) {
                List<String> line = new ArrayList<>(prefix);
                line.addAll(CliResult.java());
                line.addAll(List.of("-jar", jar.toString(), command, Long.toString(load.pid())));
                Process process =
                        new ProcessBuilder(line).redirectErrorStream(true).start();
                String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertThat(CliResult.exitCode(process)).as(output).isEqualTo(Main.NOT_PERMITTED);
                assertThat(output).contains("process " + load.pid(), "hidepid");
            }
        } finally {
            Files.delete(jar);
        }
    }
}
