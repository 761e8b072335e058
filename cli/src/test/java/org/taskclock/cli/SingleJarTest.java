// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jar that is distributed, shell completion, and the manual page. */
class SingleJarTest {
    @TempDir
    private Path directory;

    private String run(int exitCode, List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(CliResult.exitCode(process)).as(output).isEqualTo(exitCode);
        return output;
    }

    /** Runs the jar alone, on a runtime image without the JDK's tool modules. */
    private List<String> standalone(String... arguments) throws IOException {
        Path jar = directory.resolve("t.jar");
        if (!Files.exists(jar)) Files.copy(Path.of(System.getProperty("cli.jar")), jar);
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--limit-modules",
                "java.base,java.management,jdk.management",
                "-jar",
                "t.jar"));
        command.addAll(List.of(arguments));
        return command;
    }

    @Test
    void shouldRunFromOneFileOnARuntimeImage() throws IOException, InterruptedException {
        Process target = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        RecordTest.Busy.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            assertThat(target.getInputStream().read()).isEqualTo('r');
            String pid = Long.toString(target.pid());
            assertThat(run(Main.OK, standalone("attach", pid))).contains("agent: version=", "threadmxbean=on");
            String name = "a worker whose name is long";
            String top = run(Main.OK, standalone("top", "-b", pid, "0.3", "1"));
            // On a busy machine, the JVM may not have time to answer within one interval.
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(CliResult.TIMEOUT_SECONDS);
            while (!top.contains(name) && System.nanoTime() < end)
                top = run(Main.OK, standalone("top", "-b", pid, "1", "1"));
            assertThat(top).contains(name);
        } finally {
            target.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldCompleteInBash() throws IOException, InterruptedException {
        Files.writeString(
                directory.resolve("script"), CliResult.run("completion", "bash").out());
        run(0, List.of("bash", "-n", "script"));
        Map<String, String> expected = Map.of(
                "re",
                "record replay report",
                "attach --yield ''",
                "pass count off",
                "attach --virtual ''",
                "spec mxbean",
                "attach --bean ''",
                "on read off",
                "attach --jfr ''",
                "on off",
                "top --sort al",
                "allocation",
                "list --int",
                "--interval");
        for (Map.Entry<String, String> entry : expected.entrySet()) {
            String script = "source ./script; COMP_WORDS=(taskclock " + entry.getKey()
                    + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _complete_taskclock 2> /dev/null;"
                    + " echo \"${COMPREPLY[@]}\"";
            assertThat(run(0, List.of("bash", "-c", script)).strip())
                    .as(entry.getKey())
                    .isEqualTo(entry.getValue());
        }
    }

    @Test
    void shouldCompleteInZsh() throws IOException, InterruptedException {
        assumeTrue(isInstalled("zsh"), "NOT RUN: zsh is not installed");
        Files.writeString(
                directory.resolve("script"), CliResult.run("completion", "zsh").out());
        run(0, List.of("zsh", "-n", "script"));
        assertThat(run(0, List.of("zsh", "-fc", "source ./script; echo $_comps[taskclock]"))
                        .strip())
                .isNotEmpty();
    }

    private static boolean isInstalled(String program) {
        for (String path : System.getenv("PATH").split(":", -1))
            if (Files.isExecutable(Path.of(path, program))) return true;
        return false;
    }

    @Test
    void shouldHaveAManualPage() throws IOException {
        Path page = Path.of(System.getProperty("cli.jar")).resolveSibling("taskclock.1");
        String text = Files.readString(page);
        assertThat(text)
                .startsWith(".TH TASKCLOCK 1")
                .contains(".SH taskclock record", "\\-\\-max\\-size", "\\-\\-threshold", "Examples:");
        // A dot at the start of a line begins a roff request.
        assertThat(text.lines().filter(line -> line.startsWith(".")))
                .allMatch(line -> line.matches("\\.(TH|SH|nf|fi|BR).*"));
    }
}
