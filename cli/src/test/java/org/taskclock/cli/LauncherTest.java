// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.testing.LoadJvm;

/** The script {@code taskclock} in a distribution without sources. */
class LauncherTest {
    @TempDir
    private Path directory;

    private Path script;

    @BeforeEach
    void installDistribution() throws IOException {
        Path jar = Path.of(System.getProperty("cli.jar")).toAbsolutePath();
        Path root = jar.getParent().getParent().getParent();
        script = Files.copy(root.resolve("taskclock"), directory.resolve("taskclock"));
        assertThat(script.toFile().setExecutable(true)).isTrue();
        Path scripts = Files.createDirectories(directory.resolve("dist/src/main/sh"));
        Files.copy(root.resolve("dist/src/main/sh/launch.sh"), scripts.resolve("launch.sh"));
        Files.createDirectories(directory.resolve("cli/target"));
        Files.copy(jar, directory.resolve("cli/target/taskclock-cli.jar"));
    }

    private static CliResult run(Path home, Path script, String... arguments) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(script.toString());
        builder.command().addAll(List.of(arguments));
        builder.environment().put("JAVA_HOME", home.toString());
        builder.environment().remove("TASKCLOCK_JAVA_OPTS");
        Process process = builder.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new CliResult(CliResult.exitCode(process), output, "");
    }

    private static Path home() {
        return Path.of(System.getProperty("java.home"));
    }

    @Test
    void shouldEndLongRunningCommandsIfThereIsNoMemoryLeft() throws Exception {
        for (String command : List.of("exporter", "serve")) {
            ProcessBuilder builder = new ProcessBuilder(script.toString(), command, "--help");
            builder.environment().put("JAVA_HOME", home().toString());
            builder.environment().put("TASKCLOCK_JAVA_OPTS", "-XX:+PrintFlagsFinal");
            Process process = builder.redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(CliResult.exitCode(process)).as(output).isZero();
            assertThat(output.lines())
                    .as(command)
                    .anyMatch(line -> line.matches(" *bool ExitOnOutOfMemoryError +:?= true .*"));
        }
    }

    @Test
    void shouldRunTheJarThroughALink() throws Exception {
        Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of("taskclock"));
        for (Path launcher : List.of(script, link)) {
            CliResult child = run(home(), launcher, "--version");
            assertThat(child.exitCode()).as(child.toString()).isZero();
            assertThat(child.out()).startsWith("taskclock ");
        }
        assertThat(run(home(), script, "nonesuch").exitCode()).isEqualTo(Main.USAGE);
    }

    @Test
    void shouldReportAnUnsuitableJava() throws Exception {
        CliResult none = run(directory.resolve("none"), script, "--version");
        assertThat(none.exitCode()).isEqualTo(Main.FAILED);
        assertThat(none.out())
                .contains("which has no bin/java: set it to a JDK 17 or later")
                .hasLineCount(1);

        Path old = directory.resolve("old");
        Files.createDirectories(old.resolve("bin"));
        Files.createSymbolicLink(old.resolve("bin/java"), Path.of("/bin/false"));
        assertThat(run(old, script, "--version").out()).contains("the version of");
        Files.delete(old.resolve("bin/java"));
        Files.writeString(old.resolve("bin/java"), "");
        assertThat(old.resolve("bin/java").toFile().setExecutable(true)).isTrue();
        Files.writeString(old.resolve("release"), "JAVA_VERSION=\"11.0.2\"\n");
        assertThat(run(old, script, "--version").out()).contains("is version 11: set JAVA_HOME to a JDK 17 or later");
    }

    /** Without verification, a JVM crashes on a damaged class archive. */
    @Test
    void shouldReuseTheClassArchiveUnlessItIsDamaged() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy")) {
            String[] top = {"top", "-b", Long.toString(load.pid()), "0.1", "1"};
            assertThat(run(home(), script, top).exitCode()).isZero();
            CliResult second = run(home(), script, top);
            assertThat(second.exitCode()).as(second.toString()).isZero();
            List<Path> archives;
            try (var files = Files.list(directory.resolve("cli/target"))) {
                archives =
                        files.filter(file -> file.toString().endsWith(".jsa")).toList();
            }
            assertThat(archives).hasSize(1);
            try (RandomAccessFile file = new RandomAccessFile(archives.get(0).toFile(), "rw")) {
                for (long at = 8_192; at < file.length(); at += 4_096) {
                    file.seek(at);
                    file.write(new byte[1_024]);
                }
            }
            CliResult third = run(home(), script, top);
            assertThat(third.exitCode()).as(third.toString()).isZero();
            assertThat(third.out()).contains("a busy thread with a long name");
        }
    }
}
