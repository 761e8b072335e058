// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.monitor.recording.Recording;
import org.taskclock.testing.LoadJvm;

/** {@code taskclock record} on a running JVM, and {@code replay} and {@code diff} of the recording. */
@Tag("slow17")
class RecordTest {
    private static final String WORKER = "a worker whose name is long";

    /** Prints a line once a thread is busy. */
    static final class Busy {
        private Busy() {}

        public static void main(String[] args) {
            Thread worker = new Thread(
                    () -> {
                        while (true) Thread.onSpinWait();
                    },
                    WORKER);
            worker.start();
            System.out.println("ready");
        }
    }

    @TempDir
    private Path directory;

    private Path file;
    private Process target;

    @BeforeEach
    void startTarget() throws IOException {
        file = directory.resolve("recording.gz");
        target = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Busy.class.getName())
                .redirectErrorStream(true)
                .start();
        assertThat(target.getInputStream().read()).isEqualTo('r');
    }

    @AfterEach
    void stopTarget() throws InterruptedException {
        target.destroyForcibly().waitFor();
    }

    private ProcessBuilder recorder(Path into, String... more) {
        ProcessBuilder builder =
                CliResult.builder("record", Long.toString(target.pid()), "-o", into.toString(), "--interval", "100ms");
        builder.command().addAll(List.of(more));
        return builder.redirectErrorStream(true);
    }

    private void awaitIntervals(int count) throws IOException, InterruptedException {
        long end = System.nanoTime() + SECONDS.toNanos(CliResult.TIMEOUT_SECONDS);
        while (System.nanoTime() < end) {
            if (Files.exists(file) && Files.size(file) > 0) {
                try (Recording recording = Recording.open(file)) {
                    if (recording.intervalCount() >= count) return;
                } catch (IOException e) {
                    assertThat(e.getMessage()).contains("is damaged or incomplete"); // the header is being written
                }
            }
            Thread.sleep(50);
        }
        throw new AssertionError("fewer than " + count + " intervals");
    }

    private void awaitEvidence() throws IOException, InterruptedException {
        long end = System.nanoTime() + SECONDS.toNanos(3 * CliResult.TIMEOUT_SECONDS);
        do {
            awaitIntervals(1);
            try (Recording recording = Recording.open(file)) {
                if (!recording.evidence().isEmpty()) return;
            }
            Thread.sleep(500);
        } while (System.nanoTime() < end);
        throw new AssertionError("no evidence");
    }

    private static String output(Process process) throws IOException {
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private static CliResult run(int exitCode, String... arguments) throws IOException {
        CliResult result = CliResult.runHere(arguments);
        assertThat(result.exitCode()).as(result.toString()).isEqualTo(exitCode);
        return result;
    }

    @Test
    void shouldKeepEvidenceOfAFinding() throws Exception {
        String pid;
        try (LoadJvm load = LoadJvm.start("yield")) {
            pid = Long.toString(load.pid());
            Process recorder = CliResult.builder("record", pid, "-o", file.toString(), "--evidence")
                    .redirectErrorStream(true)
                    .start();
            // On a busy machine, it takes longer until the thread gets enough CPU time for a finding.
            awaitEvidence();
            recorder.toHandle().destroy(); // leaves the output open
            assertThat(CliResult.exitCode(recorder)).as(output(recorder)).isEqualTo(Main.OK);
        }
        assertThat(run(Main.OK, "replay", file.toString(), "--evidence").out())
                .contains("process " + pid, ", since 2") // the storm, or that others use the machine
                .containsPattern("(?m)^(yield-storm|cpu-contention|system-heavy): ")
                .containsPattern("\"yielder\" .* used=(?!0\\.00ms)[0-9]");
        Path page = directory.resolve("page.html");
        run(Main.OK, "report", file.toString(), "-o", page.toString());
        assertThat(Files.readString(page)).contains(", began at ", "java.lang.Thread.yield");
        assertThat(run(Main.USAGE, "record", "1", "--evidence", "--no-attach").err())
                .contains("--evidence requires attaching: remove --no-attach");
    }

    @Test
    void shouldRecordReplayAndCompare() throws IOException, InterruptedException {
        Process recorder = recorder(file, "--for", "1s").start();
        String output = output(recorder);
        assertThat(CliResult.exitCode(recorder)).as(output).isEqualTo(Main.OK);
        assertThat(output).contains("time limit reached", "taskclock replay " + file);

        CliResult json = CliResult.runHere("replay", file.toString(), "--json", "--filter", "worker");
        assertThat(json.exitCode()).isEqualTo(Main.OK);
        assertThat(json.err()).isEmpty();
        List<JsonObject> rows = json.out()
                .lines()
                .map(line -> JsonParser.parseString(line).getAsJsonObject())
                .toList();
        // Ten, unless a busy machine causes some to be skipped.
        assertThat(rows).hasSizeBetween(3, 11);
        assertThat(rows)
                .allSatisfy(row -> assertThat(row.get("name").getAsString()).isEqualTo(WORKER));
        assertThat(rows.stream()
                        .mapToDouble(row -> row.get("cpuPercent").getAsDouble())
                        .max()
                        .orElse(0))
                .isBetween(20.0, 101.0);

        CliResult text = CliResult.runHere("replay", file.toString(), "--at", "+500ms");
        assertThat(text.exitCode()).isEqualTo(Main.OK);
        assertThat(text.out()).contains("Busy", WORKER, "process ");
        assertThat(text.out().lines().filter(line -> line.contains("CPU%"))).hasSize(1);

        CliResult diff = CliResult.runHere("diff", "--threshold", "0.5", file.toString(), file.toString());
        assertThat(diff).isEqualTo(new CliResult(Main.OK, diff.out(), ""));
        assertThat(diff.out()).contains("No significant change");

        assertThat(CliResult.runHere("record", Long.toString(target.pid()), "-o", file.toString()))
                .isEqualTo(new CliResult(
                        Main.FAILED,
                        "",
                        "taskclock: record: " + file + ": file exists: choose another name or use --force\n"));
    }

    @Test
    void shouldKeepTheRecordingWhenTheRecorderIsKilled() throws IOException, InterruptedException {
        Process recorder = recorder(file).start();
        awaitIntervals(3);
        recorder.destroyForcibly().waitFor();
        CliResult replay = CliResult.runHere("replay", file.toString());
        assertThat(replay.exitCode()).isEqualTo(Main.OK);
        assertThat(replay.out().lines().filter(line -> line.contains("CPU%"))).hasSizeGreaterThanOrEqualTo(3);
        assertThat(replay.err())
                .isEqualTo("taskclock: " + file + ": truncated: the recorder was killed or is still running\n");
    }

    @Test
    void shouldStopOnASignalOrWhenTheTargetExits() throws IOException, InterruptedException {
        Process stopped = recorder(file).start();
        awaitIntervals(2);
        // Process.destroy would close our end of its output.
        stopped.toHandle().destroy();
        assertThat(output(stopped)).contains(": interrupted: ");
        assertThat(CliResult.exitCode(stopped)).isEqualTo(Main.OK);

        Files.delete(file);
        Process recorder = recorder(file).start();
        awaitIntervals(2);
        target.destroyForcibly().waitFor();
        assertThat(output(recorder)).contains(": process " + target.pid() + " has ");
        assertThat(CliResult.exitCode(recorder)).isEqualTo(Main.OK);
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.faults()).isEmpty();
            assertThat(recording.endReason()).startsWith("process " + target.pid() + " has ");
        }
    }

    @Test
    void shouldReportAFullDiskAndLeaveAReadableFile() throws IOException, InterruptedException {
        Process full = recorder(Path.of("/dev/full")).start();
        assertThat(output(full)).isEqualTo("taskclock: record: /dev/full: No space left on device\n");
        assertThat(CliResult.exitCode(full)).isEqualTo(Main.FAILED);

        // A file size limit of 2 KB simulates a full disk. The JVM's performance data file would be larger.
        ProcessBuilder limited = recorder(file, "--for", "60s");
        limited.command().add(1, "-XX:-UsePerfData");
        limited.command().addAll(0, List.of("bash", "-c", "ulimit -f 2 && exec \"$0\" \"$@\""));
        Process recorder = limited.start();
        assertThat(output(recorder).lines().reduce((a, b) -> b)).hasValueSatisfying(last -> assertThat(last)
                .startsWith("taskclock: record: " + file + ": ")
                .contains(": the recording is readable up to "));
        assertThat(CliResult.exitCode(recorder)).isEqualTo(Main.FAILED);
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.intervalCount()).isPositive();
            assertThat(recording.faults()).isEmpty();
        }
    }

    @Test
    void shouldReportErrors() throws IOException, InterruptedException {
        assertThat(CliResult.runHere("record", "999999999", "--no-attach", "-o", file.toString())
                        .exitCode())
                .isEqualTo(Main.NO_PROCESS);
        assertThat(CliResult.runHere("replay", directory.resolve("none").toString(), "--limit=-5"))
                .isEqualTo(new CliResult(
                        Main.USAGE, "", "taskclock: --limit -5: must be at least 0: see taskclock replay --help\n"));
        assertThat(CliResult.runHere("replay", directory.resolve("none").toString()))
                .isEqualTo(new CliResult(
                        Main.FAILED, "", "taskclock: replay: " + directory.resolve("none") + ": no such file\n"));
    }
}
