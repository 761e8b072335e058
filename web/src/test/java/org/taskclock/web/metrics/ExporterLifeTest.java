// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An exporter answers, tells the truth about its health, and ends, whatever happens to its threads. */
class ExporterLifeTest {
    private static final Path JAVA_HOME = Path.of(System.getProperty("java.home"));

    /**
     * A scrape must take less than a second, which {@code integration/hostile/hostile.sh} checks on an idle machine. On
     * a busy one, where tests run at the same time, the threads of the exporter may have to wait as long.
     */
    private static final Duration MAX_SCRAPE = Duration.ofSeconds(2);

    @TempDir
    private Path directory;

    private final List<Process> children = new ArrayList<>();

    @AfterEach
    void endChildren() throws IOException, InterruptedException {
        for (Process child : children) child.destroyForcibly().waitFor();
        for (String link : List.of("lib", "conf"))
            Files.deleteIfExists(directory.resolve("jdk").resolve(link));
    }

    private Process start(List<String> command) throws IOException {
        Process child = new ProcessBuilder(command)
                .redirectError(directory.resolve("err").toFile())
                .start();
        children.add(child);
        return child;
    }

    private static List<String> java(Path java, Class<?> program, String... arguments) {
        List<String> command = new ArrayList<>(List.of(java.toString(), "-Xmx48m", "-XX:+UseSerialGC"));
        command.add(ForgedReportProgram.OPTION);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    private static String readLine(Process child) throws IOException {
        return new BufferedReader(new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8)).readLine();
    }

    private static void send(Process child, String line) throws IOException {
        child.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
        child.getOutputStream().flush();
    }

    private static HttpResponse<String> get(URI address) throws IOException, InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(address).timeout(MAX_SCRAPE).build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    }

    @Test
    void shouldEndIfThereIsNoMemoryLeft() throws Exception {
        Process exporter = start(java(JAVA_HOME.resolve("bin/java"), ExporterProgram.class, "no such JVM"));
        assertThat(readLine(exporter)).startsWith("http://127.0.0.1:");
        send(exporter, "fill");
        assertThat(exporter.waitFor(60, SECONDS)).as("ended").isTrue();
        assertThat(exporter.exitValue()).isEqualTo(1);
        // Before, JDK 24 and later warn of the native library.
        assertThat(Files.readString(directory.resolve("err")))
                .contains("taskclock: exporter: java.lang.OutOfMemoryError")
                .contains("TASKCLOCK_JAVA_OPTS");
    }

    /** Reading the version of this JVM's JDK never ends. */
    private Process startWithPipeAsRelease() throws IOException, InterruptedException {
        Path home = Files.createDirectories(directory.resolve("jdk"));
        Path java = Files.createDirectories(home.resolve("bin")).resolve("java");
        Files.copy(JAVA_HOME.resolve("bin/java"), java);
        assertThat(java.toFile().setExecutable(true)).isTrue();
        Files.createSymbolicLink(home.resolve("lib"), JAVA_HOME.resolve("lib"));
        Files.createSymbolicLink(home.resolve("conf"), JAVA_HOME.resolve("conf"));
        Process mkfifo = new ProcessBuilder("mkfifo", home.resolve("release").toString()).start();
        assertThat(mkfifo.waitFor()).isZero();
        Process jvm = start(java(java, ForgedReportProgram.class, "{}"));
        assertThat(readLine(jvm)).isEqualTo("ready");
        return jvm;
    }

    @Test
    void shouldAnswerAndEndAlthoughAJvmHangs() throws Exception {
        startWithPipeAsRelease();
        Process exporter =
                start(java(JAVA_HOME.resolve("bin/java"), ExporterProgram.class, ForgedReportProgram.class.getName()));
        URI address = URI.create(readLine(exporter));
        for (int i = 0; i < 5; i++)
            assertThat(get(address).body())
                    .contains("taskclock_exporter_jvms ", "taskclock_exporter_sample_age_seconds");
        send(exporter, "close");
        assertThat(exporter.waitFor(10, SECONDS)).as("ended").isTrue();
        assertThat(exporter.exitValue()).isZero();
    }

    @Test
    void shouldReportItsResidentMemory() throws IOException {
        long before = rss();
        assertThat(OwnMetrics.residentBytes()).isBetween(before / 2, 2 * rss());
    }

    /** Returns the sum of the mappings, which the kernel gives in kilobytes. */
    private static long rss() throws IOException {
        long kilobytes = 0;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps_rollup")))
            if (line.startsWith("Rss:")) kilobytes += Long.parseLong(line.replaceAll("[^0-9]", ""));
        return 1_024 * kilobytes;
    }
}
