// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static java.lang.ProcessBuilder.Redirect.DISCARD;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.internal.JdkVersions;

/** {@code taskclock attach}, {@code detach} and {@code status} on a running JVM. */
class AttachTest {
    /** Creates a file, and sleeps until it is killed. */
    static final class Idle {
        private Idle() {}

        public static void main(String[] args) throws InterruptedException, IOException {
            Files.createFile(Path.of(args[0]));
            Thread.sleep(120_000);
        }
    }

    @TempDir
    private Path ready;

    private Process target;

    @AfterEach
    void stopTarget() throws InterruptedException {
        if (target != null) target.destroyForcibly().waitFor();
    }

    private String startTarget(String... options) throws IOException, InterruptedException {
        return startTarget(DISCARD, options);
    }

    private String startTarget(ProcessBuilder.Redirect output, String... options)
            throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of(ProcessHandle.current().info().command().orElseThrow()));
        command.addAll(List.of(options));
        Path started = ready.resolve("started");
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Idle.class.getName(), started.toString()));
        target = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output)
                .start();
        // Attaching to a JVM that is still starting would kill it.
        while (!Files.exists(started)) {
            assertThat(target.isAlive()).isTrue();
            Thread.sleep(10);
        }
        return Long.toString(target.pid());
    }

    private static String runSuccessfully(String... arguments) throws IOException, InterruptedException {
        CliResult child = CliResult.runHere(arguments);
        assertThat(child).isEqualTo(new CliResult(Main.OK, child.out(), ""));
        return child.out();
    }

    @Test
    void shouldAttachChangeAndDetach() throws IOException, InterruptedException {
        String pid = startTarget();
        assertThat(runSuccessfully("attach", pid))
                .startsWith("attaching to " + pid)
                .contains("agent: version=", "threadmxbean=on", "yield=pass")
                .doesNotContain("unavailable");
        assertThat(runSuccessfully("attach", pid, "yield=count")).contains("yield=count");
        assertThat(runSuccessfully("detach", pid)).contains("threadmxbean=off", "yield=pass");
        assertThat(runSuccessfully("attach", pid, "yield=off")).contains("threadmxbean=on", "yield=off");
        assertThat(runSuccessfully("attach", "AttachTest$idle", "--yield", "count", "--jfr=off"))
                .contains("threadmxbean=on", "yield=count");
        assertThat(runSuccessfully("attach", "yield=off", "--match", "AttachTest$Idle"))
                .contains("yield=off");
        assertThat(runSuccessfully("status", "--match", "attachtest$idle"))
                .contains(" in process " + pid + "\n", "jfr            off\n");
        assertThat(runSuccessfully("detach", "attachtest$IDLE")).contains("; detached");
        assertThat(target.isAlive()).isTrue();
    }

    /** Only the JVM's own warning about the first attach appears; later changes load nothing. */
    @Test
    void shouldMakeTheJvmPrintItsWarningOnce(@TempDir Path directory) throws IOException, InterruptedException {
        Path output = directory.resolve("output");
        String pid = startTarget(ProcessBuilder.Redirect.to(output.toFile()));
        assertThat(runSuccessfully("detach", pid)).as("before the first attach").contains("detached");
        assertThat(output).isEmptyFile();
        runSuccessfully("attach", pid);
        String warnings = Files.readString(output);
        assertThat(warnings.lines()).allMatch(line -> line.startsWith("WARNING: "));
        assertThat(warnings.lines()).hasSize(Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS ? 4 : 0);
        assertThat(runSuccessfully("attach", pid, "yield=count")).contains("yield=count");
        assertThat(runSuccessfully("detach", pid)).contains("; detached");
        assertThat(runSuccessfully("attach", pid)).contains("threadmxbean=on,yield=pass");
        assertThat(runSuccessfully("detach", pid)).contains("; detached");
        assertThat(output).hasContent(warnings);
    }

    @Test
    void shouldListChangesOfADryRun() throws IOException, InterruptedException {
        String pid = startTarget();
        String plan = runSuccessfully("attach", "--dry-run", pid, "yield=count,bean=read");
        assertThat(plan)
                .startsWith("attaching to " + pid + " does the following:\n")
                .contains("four native methods of sun.management.ThreadImpl", "behind Thread.yield", "read-only")
                .endsWith("Nothing was changed.\n");
        assertThat(plan.contains("java.lang.VirtualThread"))
                .isEqualTo(Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS);
        assertThat(runSuccessfully("attach", "--dry-run", pid, "yield=count", "--bean=read"))
                .isEqualTo(plan);
        assertThat(runSuccessfully("attach", "--dry-run", pid, "threadmxbean=off,vthreads=off,bean=off,jfr=off"))
                .doesNotContain("ThreadImpl", "VirtualThread", "MXBean", "event");
        CliResult status = CliResult.runHere("status", pid);
        assertThat(status)
                .isEqualTo(new CliResult(
                        Main.FAILED,
                        "",
                        "taskclock: process " + pid + " has no agent: run taskclock attach " + pid + "\n"));
    }

    @Test
    void shouldValidateTheOptionsOfADryRun() throws IOException, InterruptedException {
        // The options are validated first, so no JVM is needed.
        assertThat(CliResult.runHere("attach", "--dry-run", "999999999", "yield=sometimes"))
                .isEqualTo(new CliResult(
                        Main.USAGE,
                        "",
                        "taskclock: attach: option \"yield=sometimes\": yield must be one of pass, count, off:"
                                + " see taskclock attach --help\n"));
        assertThat(CliResult.runHere("attach", "--dry-run", "999999999", "yield=off")
                        .exitCode())
                .isEqualTo(Main.NO_PROCESS);
    }

    @Test
    void shouldReportHealth() throws IOException, InterruptedException {
        String pid = startTarget();
        runSuccessfully("attach", pid, "yield=count");
        String vthreads = Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS ? "on" : "off";
        assertThat(runSuccessfully("status", pid))
                .startsWith("agent ")
                .contains(" in process " + pid + "\n", "threadmxbean   on\n", "yield          count\n")
                .contains("vthreads       " + vthreads + "\n", "failures       0\n");
        assertThat(runSuccessfully("status", "--json", pid))
                .contains("{\"name\":\"bean\",\"state\":\"on\"}", "\"failures\":0");
        runSuccessfully("detach", pid);
        assertThat(CliResult.runHere("status", pid).exitCode()).isEqualTo(Main.FAILED);
        assertThat(CliResult.runHere("status", "999999999").exitCode()).isEqualTo(Main.NO_PROCESS);
        assertThat(CliResult.runHere("status").exitCode()).isEqualTo(Main.USAGE);
    }

    @Test
    void shouldReportBrokenFeatures() throws IOException, InterruptedException {
        String pid = startTarget();
        runSuccessfully("attach", pid, "summary=/nonexistent");
        CliResult status = CliResult.run("status", pid);
        assertThat(status.exitCode()).isEqualTo(Main.FAILED);
        assertThat(status.out()).contains("summary        off: /nonexistent ");
    }

    @Test
    void shouldReportInvalidOptions() throws IOException, InterruptedException {
        String pid = startTarget();
        CliResult wrong = CliResult.runHere("attach", pid, "yield=sometimes");
        assertThat(wrong.exitCode()).isEqualTo(Main.FAILED);
        assertThat(wrong.err())
                .isEqualTo("taskclock: agent: option \"yield=sometimes\": yield must be one of pass, count, off\n");
        assertThat(CliResult.runHere("attach", pid, "detach").exitCode()).isEqualTo(Main.USAGE);
        assertThat(target.isAlive()).isTrue();
    }

    @Test
    void shouldReportUnusableProcesses() throws IOException, InterruptedException {
        CliResult missing = CliResult.run("attach", "999999999");
        assertThat(missing.exitCode()).isEqualTo(Main.NO_PROCESS);
        assertThat(missing.err())
                .isEqualTo("taskclock: there is no process 999999999: taskclock list shows the running JVMs\n");

        Process sleep = new ProcessBuilder("sleep", "60").start();
        CliResult notAJvm = CliResult.run("detach", Long.toString(sleep.pid()));
        sleep.destroy();
        assertThat(notAJvm.exitCode()).isEqualTo(Main.FAILED);
        assertThat(notAJvm.err()).contains("is not a JVM");

        String pid = startTarget("-XX:+DisableAttachMechanism");
        CliResult refused = CliResult.run("attach", pid);
        assertThat(refused.exitCode()).isEqualTo(Main.FAILED);
        assertThat(refused.err()).contains("-XX:+DisableAttachMechanism").doesNotContain("Exception");

        assertThat(CliResult.run("attach").exitCode()).isEqualTo(Main.USAGE);
    }
}
