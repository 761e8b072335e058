// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the command line finds the lab's jar and runs it. The tests of the lab run its commands. */
@Tag("slow17")
class LabCommandTest {
    @TempDir
    Path folder;

    private Path jar;

    /** Stands for the lab. */
    static final class Program {
        private Program() {}

        public static void main(String[] args) {
            System.out.println(List.of(args) + " " + System.getProperty("a.property"));
            System.exit(7);
        }
    }

    @BeforeEach
    void copyJar() throws IOException {
        jar = Files.copy(Path.of(System.getProperty("cli.jar")), folder.resolve("cli.jar"));
    }

    private CliResult run(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        for (String argument : arguments) if (argument.startsWith("-D")) command.add(argument);
        command.addAll(List.of("-jar", jar.toString()));
        for (String argument : arguments) if (!argument.startsWith("-D")) command.add(argument);
        Path err = folder.resolve("err");
        Process process =
                new ProcessBuilder(command).redirectError(err.toFile()).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new CliResult(CliResult.exitCode(process), out, Files.readString(err));
    }

    private static void writeLab(Path file) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, Program.class.getName());
        String name = Program.class.getName().replace('.', '/') + ".class";
        try (OutputStream out = Files.newOutputStream(file);
                JarOutputStream entries = new JarOutputStream(out, manifest);
                InputStream bytes = Program.class.getClassLoader().getResourceAsStream(name)) {
            entries.putNextEntry(new JarEntry(name));
            bytes.transferTo(entries);
        }
    }

    @Test
    void shouldExplainHowToGetTheLab() throws Exception {
        CliResult bench = run("bench", "quick");
        assertThat(bench.exitCode()).isEqualTo(Main.FAILED);
        assertThat(bench.out()).isEmpty();
        assertThat(bench.err())
                .isEqualTo("taskclock: bench: no taskclock-lab.jar next to " + jar
                        + ": copy it there from the release, or run ./taskclock bench in the source tree\n");

        CliResult given = run("-Dtaskclock.lab.jar=/nonexistent", "experiment", "yield");
        assertThat(given.exitCode()).isEqualTo(Main.USAGE);
        assertThat(given.err())
                .isEqualTo("taskclock: -Dtaskclock.lab.jar=/nonexistent: no such file: specify a taskclock-lab.jar\n");
    }

    @Test
    void shouldPrintHelpWithoutTheLab() throws Exception {
        CliResult bench = run("bench", "--help");
        assertThat(bench.exitCode()).as(bench.toString()).isEqualTo(Main.OK);
        assertThat(bench.out())
                .startsWith("Usage: taskclock bench")
                .contains("this needs", "taskclock-lab.jar next to the command line's jar")
                .contains("--contender", "--compare", "Profiles:", "3 something is slower")
                .doesNotContain("ARGUMENT");
        CliResult experiment = run("experiment", "-h");
        assertThat(experiment.exitCode()).as(experiment.toString()).isEqualTo(Main.OK);
        assertThat(experiment.out())
                .startsWith("Usage: taskclock experiment")
                .contains("taskclock-lab.jar", "EXPERIMENT", "yield-a-lot", "overhead");
        CliResult yield = run("experiment", "yield", "--help");
        assertThat(yield.exitCode()).as(yield.toString()).isEqualTo(Main.OK);
        assertThat(yield.out()).startsWith("Usage: taskclock experiment yield").contains("--for", "--jdk");
    }

    @Test
    void shouldListOptionsInTheManualPageAndInCompletion() throws Exception {
        assertThat(ManPage.of(Main.commandLine()))
                .contains(
                        ".SH taskclock bench\n",
                        ".SH taskclock experiment overhead\n",
                        "\\-\\-contender",
                        "\\-\\-rounds");
        CliResult completion = run("completion", "bash");
        assertThat(completion.exitCode()).as(completion.toString()).isEqualTo(Main.OK);
        assertThat(completion.out())
                .contains("--contender", "--windows", "function _picocli_taskclock_experiment_yieldalot");
    }

    @Test
    void shouldPassEverythingToTheLab() throws Exception {
        writeLab(folder.resolve(LabCommand.JAR));
        CliResult bench = run("-Da.property=value", "bench", "--help", "--jdk", "a b", "-o=c", "");
        assertThat(bench.exitCode()).as(bench.toString()).isEqualTo(7);
        assertThat(bench.out()).isEqualTo("[bench, --help, --jdk, a b, -o=c, ] value\n");

        Path other = Files.move(folder.resolve(LabCommand.JAR), folder.resolve("other.jar"));
        CliResult experiment = run("-Dtaskclock.lab.jar=" + other, "experiment", "yield", "--for", "1s");
        assertThat(experiment.exitCode()).as(experiment.toString()).isEqualTo(7);
        assertThat(experiment.out()).isEqualTo("[experiment, yield, --for, 1s] null\n");
    }
}
