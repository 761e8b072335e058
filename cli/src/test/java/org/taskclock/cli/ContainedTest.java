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
import org.junit.jupiter.api.Test;
import org.taskclock.watch.Loaded;

/** JVMs as in containers: other namespaces, limited, hidden. Made without a container engine, as root only. */
class ContainedTest {
    private static final List<String> APART =
            List.of("unshare", "--pid", "--mount", "--fork", "--mount-proc", "--kill-child");
    private static final String BUSY = "a busy thread with a long name, number 1";

    /** Says so where the machine does not allow it. */
    private static void assumePossible(List<String> prefix) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(prefix);
        command.add("true");
        int exit;
        try {
            exit = new ProcessBuilder(command).start().waitFor();
        } catch (IOException e) {
            exit = -1;
        }
        assumeTrue(exit == 0, "NOT RUN: not allowed here: " + String.join(" ", prefix));
    }

    private static Child done(String... arguments) throws Exception {
        Child child = Child.run(arguments);
        assertThat(child.exitCode()).as(child.toString()).isEqualTo(Main.OK);
        return child;
    }

    /** Its process id there is 1, and its /tmp is its own. */
    @Test
    void shouldWatchAJvmInOtherNamespaces() throws Exception {
        assumePossible(APART);
        assumeTrue(
                !Path.of("").toAbsolutePath().startsWith("/tmp"),
                "NOT RUN: what is tested lies in /tmp, which is to be another");
        List<String> prefix = new ArrayList<>(APART);
        prefix.addAll(List.of("sh", "-c", "mount -t tmpfs none /tmp && exec \"$@\"", "sh"));
        try (Loaded load = Loaded.as(prefix, "busy", "kernel", "yield", "idle=3")) {
            String pid = Long.toString(load.pid());
            assertThat(done("top", "--json", "--top", "0", pid, "0.5", "2")
                            .out()
                            .lines()
                            .map(line -> JsonParser.parseString(line).getAsJsonObject())
                            .filter(row -> row.get("name").getAsString().equals(BUSY)))
                    .hasSize(2)
                    .allSatisfy(row -> assertThat(row.get("javaId").getAsLong()).isPositive());

            assertThat(done("attach", pid).out()).contains("threadmxbean=on");
            assertThat(Path.of("/proc/" + pid + "/root/tmp").toFile().list())
                    .noneMatch(name -> name.startsWith("taskclock"));
            JsonObject yields = JsonParser.parseString(
                            done("yields", pid, "--for", "1s", "--json").out())
                    .getAsJsonObject();
            assertThat(yields.get("platformPerSecond").getAsDouble()).isGreaterThan(100);
            done("detach", pid);
        }
    }

    /** A fifth of a processor, for three threads that want more. */
    @Test
    void shouldTellOfALimit() throws Exception {
        // Version 1 has a mount for it, version 2 is one for all.
        Path v1 = Path.of("/sys/fs/cgroup/cpu");
        boolean two = Files.exists(Path.of("/sys/fs/cgroup/cgroup.controllers"));
        Path group = (two ? v1.getParent() : v1)
                .resolve("taskclock-test-" + ProcessHandle.current().pid());
        try {
            Files.createDirectory(group);
            if (two) Files.writeString(group.resolve("cpu.max"), "20000 100000");
            else Files.writeString(group.resolve("cpu.cfs_quota_us"), "20000");
        } catch (IOException e) {
            Files.deleteIfExists(group);
            assumeTrue(false, "NOT RUN: no control group can be made here: " + e);
        }
        List<String> prefix = List.of("sh", "-c", "echo $$ > " + group + "/cgroup.procs && exec \"$@\"", "sh");
        try (Loaded load = Loaded.as(prefix, "busy=3")) {
            String pid = Long.toString(load.pid());
            String text = done("top", "-b", "--top", "1", pid, "1", "2").out();
            assertThat(text).containsPattern("% of the limit.*, throttled [0-9]+ ms");
            Child full = Child.run("check", pid, "--cpu", "80% of limit", "--for", "2s");
            assertThat(full.exitCode()).as(full.toString()).isEqualTo(Main.THRESHOLD);
            assertThat(full.out()).contains("of the limit of 0.2", "! throttled: ");
            Child within = Child.run("check", pid, "--cpu", "50%", "--for", "1s");
            assertThat(within.exitCode()).as(within.toString()).isEqualTo(Main.OK);
        } finally {
            for (int i = 0;
                    i < 100 && !Files.readString(group.resolve("cgroup.procs")).isEmpty();
                    i++) Thread.sleep(20);
            Files.delete(group);
        }
    }

    /** As hosts with hidepid=2 have it, where /proc shows nobody another user's processes. */
    @Test
    void shouldTellAHiddenJvmFromNone() throws Exception {
        List<String> prefix = List.of(
                "unshare",
                "--mount",
                "sh",
                "-c",
                "mount -t proc -o hidepid=2 proc /proc"
                        + " && exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \"$@\"",
                "sh");
        assumePossible(prefix);
        Path jar = Files.createTempFile("taskclock-cli", ".jar");
        try (Loaded load = Loaded.with("idle")) {
            Files.write(jar, Files.readAllBytes(Path.of(System.getProperty("cli.jar"))));
            assertThat(jar.toFile().setReadable(true, false)).isTrue();
            for (String command : List.of("top", "attach")) {
                List<String> line = new ArrayList<>(prefix);
                line.addAll(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-jar",
                        jar.toString(),
                        command,
                        Long.toString(load.pid())));
                Process process =
                        new ProcessBuilder(line).redirectErrorStream(true).start();
                String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertThat(Child.exitCode(process)).as(said).isEqualTo(Main.NOT_PERMITTED);
                assertThat(said).contains("process " + load.pid() + " cannot be looked at", "hidepid");
            }
        } finally {
            Files.delete(jar);
        }
    }
}
