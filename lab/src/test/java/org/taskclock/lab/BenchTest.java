// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.report.Result;
import picocli.CommandLine;

/** Runs {@code bench} as briefly as possible. The figures are meaningless. */
@Tag("slow17")
class BenchTest {
    /** Long enough that only a hang exceeds it. */
    private static final long TIMEOUT_SECONDS = 120;

    private static final Path JDK = Path.of(System.getProperty("java.home"));
    private static final Path JAR = Path.of(System.getProperty("cli.jar"));

    @TempDir
    Path folder;

    private record ProcessResult(int exitCode, String out, String err) {}

    private ProcessBuilder builder(String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                JDK.resolve("bin/java").toString(),
                // Another build may be using JMH on this machine.
                "-Djmh.ignoreLock=true",
                "--enable-native-access=ALL-UNNAMED",
                "-jar",
                JAR.toString(),
                "bench"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).directory(folder.toFile());
    }

    private static String[] arguments(String profile, Path jdk, String contenders, String scale, Path file) {
        return new String[] {
            profile,
            "--jdk",
            jdk.toString(),
            "--contender",
            contenders,
            "--backend",
            "syscall",
            "--scale",
            scale,
            "-o",
            file.toString()
        };
    }

    private static int exitCode(Process process) throws InterruptedException {
        if (process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) return process.exitValue();
        process.destroyForcibly();
        throw new AssertionError("still running after " + TIMEOUT_SECONDS + " s");
    }

    private ProcessResult run(String... arguments) throws IOException, InterruptedException {
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        Process process = builder(arguments)
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        return new ProcessResult(exitCode(process), Files.readString(out), Files.readString(err));
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the native library needs it")
    void shouldWriteAResult() throws Exception {
        Path file = folder.resolve("result.json");
        ProcessResult bench = run(arguments("quick", JDK, "id-0,agent-cpu", "0.01", file));
        assertThat(bench.exitCode()).as(bench.err()).isZero();
        assertThat(bench.out())
                .contains(
                        "CurrentThreadBenchmark.userByConstantId:p0.9999",
                        "post-ns: 1 thread, id 0",
                        "ratio",
                        "NOT MEASURED: ")
                .contains("These figures are rough.", "multiplied by 0.01");
        Result result = Result.read(file);
        assertThat(result.complete()).isTrue();
        assertThat(result.kind()).isEqualTo("bench");
        assertThat(result.name()).isEqualTo("quick");
        assertThat(result.jdks()).hasSize(1);
        assertThat(result.command()).startsWith("./taskclock", "bench", "quick").doesNotContain(JDK.toString());
        assertThat(result.machine()).containsKeys("cpu", "processors", "kernel", "libc");
        assertThat(result.load()).isNotEmpty().allSatisfy(load -> assertThat(load.seconds())
                .isPositive());
        assertThat(result.method()).anySatisfy(text -> assertThat(text).contains("multiplied by 0.01"));
        assertThat(result.findings()).hasSizeGreaterThanOrEqualTo(11);
        Measurements measured = Measurements.of(result.jmh());
        assertThat(measured.all())
                .extracting(Measurement::contender)
                .containsExactly(Contender.ID_0, Contender.AGENT_CPU, Contender.AGENT_CPU);
        assertThat(measured.all()).allSatisfy(measurement -> {
            assertThat(measurement.backend()).isEqualTo("syscall");
            assertThat(measurement.mean()).isPositive();
            assertThat(measurement.samples()).isPositive();
        });
        assertThat(measured.all().get(0).row("p1.00"))
                .isGreaterThanOrEqualTo(measured.all().get(0).row("p0.50"));
        assertThat(Files.readString(file))
                .doesNotContain(JDK.toString())
                .doesNotContain(JAR.getParent().toString());
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the native library needs it")
    void shouldReportAFailedForkInOneLine() throws Exception {
        Path file = folder.resolve("result.json");
        ProcessResult bench = run(arguments("pr-ms", jdkWhoseSecondForkFails(), "id-0,own-id", "0.002", file));
        assertThat(bench.exitCode()).isEqualTo(1);
        assertThat(bench.err().lines().filter(line -> line.startsWith("taskclock: ")))
                .singleElement()
                .asString()
                .contains("own-id on syscall", "exit code 3", "simulated failure");
        Result result = Result.read(file);
        assertThat(result.complete()).isFalse();
        assertThat(Measurements.of(result.jmh()).all())
                .extracting(Measurement::contender)
                .containsExactly(Contender.ID_0);
        assertThat(result.method())
                .last()
                .asString()
                .startsWith("Not measured: ")
                .contains("simulated failure");
    }

    private Path jdkWhoseSecondForkFails() throws IOException {
        Path home = Files.createDirectories(folder.resolve("jdk"));
        Files.copy(JDK.resolve("release"), home.resolve("release"));
        Path java = Files.createDirectory(home.resolve("bin")).resolve("java");
        Files.writeString(java, """
                #!/bin/sh
                case "$*" in *ForkedMain*)
                  if [ -e '%1$s/forked' ]; then echo 'simulated failure' >&2; exit 3; fi
                  touch '%1$s/forked'
                esac
                exec '%2$s/bin/java' "$@"
                """.formatted(home, JDK));
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwx------"));
        return home;
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the native library needs it")
    void shouldKeepPartialResultsWhenInterrupted() throws Exception {
        Path file = folder.resolve("result.json");
        Process process = builder(arguments("quick", JDK, "stock-cpu,stock-user,own-id", "0.2", file))
                .redirectOutput(folder.resolve("out").toFile())
                .start();
        List<String> printed = new ArrayList<>();
        try (BufferedReader err =
                new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
            for (String line = err.readLine(); line != null; line = err.readLine()) {
                printed.add(line);
                if (line.contains("[1/")) process.toHandle().destroy();
            }
        }
        assertThat(exitCode(process)).as(printed.toString()).isEqualTo(143);
        assertThat(printed)
                .anySatisfy(line -> assertThat(line).contains("interrupted after ", " of 6", file.toString()));
        Result result = Result.read(file);
        assertThat(result.complete()).isFalse();
        assertThat(Measurements.of(result.jmh()).all()).isNotEmpty().hasSizeLessThan(6);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bogus",
                "--jdk /nonexistent",
                "--contender bogus",
                "--backend bogus",
                "--scale 0",
                "--scale x",
                "-o /nonexistent/file",
                "--bogus",
                "quick surplus",
                "--compare one"
            })
    void shouldRejectWrongUsage(String arguments) {
        assertThat(new CommandLine(new Bench()).execute(arguments.split(" "))).isEqualTo(2);
    }

    @Test
    void shouldReportWithItsExitCodeThatSomethingIsSlower() throws IOException {
        Path before = Path.of("results/published/quick.json");
        // Puts a 9 before each median.
        String slower = Pattern.compile("(?<=\"medians\":)[^:]*")
                .matcher(Files.readString(before))
                .replaceAll(medians -> medians.group().replaceAll("(?<=[\\[,])(?=\\d)", "9"));
        Path after = Files.writeString(folder.resolve("slower.json"), slower);
        CommandLine bench = new CommandLine(new Bench());
        assertThat(bench.execute("--compare", before.toString(), after.toString()))
                .isEqualTo(3);
        assertThat(new CommandLine(new Bench()).execute("--compare", after.toString(), before.toString()))
                .isZero();
    }

    @Test
    void shouldExplainWhyAForkHasNoResult() {
        String failed = """
                <forked VM failed with exit code 1>
                <stdout last='20 lines'>
                </stdout>
                <stderr last='20 lines'>
                Error: no such option
                more
                </stderr>
                """;
        assertThat(JmhOutput.failure(failed)).isEqualTo("forked VM failed with exit code 1: Error: no such option");
        assertThat(JmhOutput.failure("<failure>\n\njava.lang.IllegalStateException: why\n\tat x\n"))
                .isEqualTo("java.lang.IllegalStateException: why");
        assertThat(JmhOutput.failure("# Run progress\n")).isEqualTo("JMH returned no result and no reason");
    }
}
