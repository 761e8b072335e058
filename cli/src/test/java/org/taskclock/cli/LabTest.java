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
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LabTest {
    @TempDir
    Path root;

    private Path cli;

    @BeforeEach
    void copy() throws IOException {
        cli = Files.createDirectories(root.resolve("cli/target")).resolve("taskclock-cli.jar");
        Files.copy(Path.of(System.getProperty("cli.jar")), cli);
    }

    private Child run(String input, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Dtaskclock.rung=mxbean", "-jar", cli.toString()));
        command.addAll(List.of(arguments));
        Path out = root.resolve("out");
        Path err = root.resolve("err");
        Process process = new ProcessBuilder(command)
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        try (OutputStream in = process.getOutputStream()) {
            in.write(input.getBytes(StandardCharsets.UTF_8));
        }
        return new Child(Child.exitCode(process), Files.readString(out), Files.readString(err));
    }

    private static void makeJar(Path jar) throws IOException {
        Files.createDirectories(jar.getParent());
        String name = "org/taskclock/lab/Lab.class";
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
                InputStream in = LabTest.class.getClassLoader().getResourceAsStream(name)) {
            out.putNextEntry(new JarEntry(name));
            in.transferTo(out);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"cli/target", "benchmarks/target"})
    void shouldHandEverythingOn(String place) throws Exception {
        makeJar(root.resolve(place).resolve("benchmarks.jar"));
        Child child = run("some text", "bench", "--help", "-x", "a b", "--", "--json=1");
        assertThat(child.out()).isEqualTo("[bench, --help, -x, a b, --, --json=1] rung=mxbean\nread: some text\n");
        assertThat(child.err()).contains("to standard error");
        assertThat(child.exitCode()).isEqualTo(7);
    }

    @Test
    void shouldKnowExperimentsToo() throws Exception {
        makeJar(root.resolve("cli/target/benchmarks.jar"));
        assertThat(run("", "experiment").out()).startsWith("[experiment] ");
    }

    @Test
    void shouldSayInOneLineThatTheJarIsMissing() throws Exception {
        Child child = run("", "bench", "quick");
        assertThat(child.exitCode()).isEqualTo(1);
        assertThat(child.out()).isEmpty();
        assertThat(child.err())
                .startsWith("taskclock: bench: benchmarks.jar: ")
                .contains("cli/target/benchmarks.jar", "benchmarks/target/benchmarks.jar", "./taskclock bench");
        assertThat(child.err().lines()).hasSize(1);
    }
}
