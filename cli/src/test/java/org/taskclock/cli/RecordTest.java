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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.watch.Recording;

/** {@code taskclock record}, {@code replay} and {@code diff}, of a JVM that runs. */
class RecordTest {
    private static final String WORKER = "a worker whose name is long";

    /** Says that it is ready, and is busy in one thread. */
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
    private Path folder;

    private Path file;
    private Process target;

    @BeforeEach
    void start() throws IOException {
        file = folder.resolve("recording.gz");
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
    void end() throws InterruptedException {
        target.destroyForcibly().waitFor();
    }

    private ProcessBuilder recorder(Path into, String... more) {
        ProcessBuilder builder =
                Child.builder("record", Long.toString(target.pid()), "-o", into.toString(), "--every", "100ms");
        builder.command().addAll(List.of(more));
        return builder.redirectErrorStream(true);
    }

    private void awaitFrames(int count) throws IOException, InterruptedException {
        long end = System.nanoTime() + SECONDS.toNanos(Child.TIMEOUT_SECONDS);
        while (System.nanoTime() < end) {
            if (Files.exists(file) && Files.size(file) > 0) {
                try (Recording recording = Recording.open(file)) {
                    if (recording.frames() >= count) return;
                } catch (IOException e) {
                    assertThat(e.getMessage()).contains("is no recording"); // the first bytes are still to come
                }
            }
            Thread.sleep(50);
        }
        throw new AssertionError("no " + count + " frames");
    }

    private static String output(Process process) throws IOException {
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void shouldRecordReplayAndCompare() throws IOException, InterruptedException {
        Process recorder = recorder(file, "--for", "1s").start();
        String said = output(recorder);
        assertThat(Child.exitCode(recorder)).as(said).isEqualTo(Main.OK);
        assertThat(said).contains("until its time was up", "taskclock replay " + file);

        Child json = Child.run("replay", file.toString(), "--json", "--filter", "worker");
        assertThat(json.exitCode()).isEqualTo(Main.OK);
        assertThat(json.err()).isEmpty();
        List<JsonObject> rows = json.out()
                .lines()
                .map(line -> JsonParser.parseString(line).getAsJsonObject())
                .toList();
        // Ten, but for beats that were missed on a machine that is busy.
        assertThat(rows).hasSizeBetween(3, 11);
        assertThat(rows)
                .allSatisfy(row -> assertThat(row.get("name").getAsString()).isEqualTo(WORKER));
        assertThat(rows.stream()
                        .mapToDouble(row -> row.get("cpuPercent").getAsDouble())
                        .max()
                        .orElse(0))
                .isBetween(20.0, 101.0);

        Child text = Child.run("replay", file.toString(), "--at", "+500ms");
        assertThat(text.exitCode()).isEqualTo(Main.OK);
        assertThat(text.out()).contains("Busy", WORKER, "process ");
        assertThat(text.out().lines().filter(line -> line.contains("CPU%"))).hasSize(1);

        Child diff = Child.run("diff", "--exit-code", file.toString(), file.toString());
        assertThat(diff).isEqualTo(new Child(Main.OK, diff.out(), ""));
        assertThat(diff.out()).contains("No pool and no thread changed");

        assertThat(Child.run("record", Long.toString(target.pid()), "-o", file.toString()))
                .isEqualTo(new Child(
                        Main.FAILED,
                        "",
                        "taskclock: record: " + file + ": is there already: choose another, or say --force\n"));
    }

    @Test
    void shouldLoseNothingWhereTheRecorderIsKilled() throws IOException, InterruptedException {
        Process recorder = recorder(file).start();
        awaitFrames(3);
        recorder.destroyForcibly().waitFor();
        Child replay = Child.run("replay", file.toString());
        assertThat(replay.exitCode()).isEqualTo(Main.OK);
        assertThat(replay.out().lines().filter(line -> line.contains("CPU%"))).hasSizeGreaterThanOrEqualTo(3);
        assertThat(replay.err())
                .isEqualTo("taskclock: " + file + ": breaks off here: what wrote it was ended, or is still at it\n");
    }

    @Test
    void shouldEndInOrderWhereItIsStoppedOrTheTargetEnds() throws IOException, InterruptedException {
        Process stopped = recorder(file).start();
        awaitFrames(2);
        // The process's own method would close our end of its output.
        stopped.toHandle().destroy();
        assertThat(output(stopped)).contains("until it was stopped");
        assertThat(Child.exitCode(stopped)).isEqualTo(Main.OK);

        Files.delete(file);
        Process recorder = recorder(file).start();
        awaitFrames(2);
        target.destroyForcibly().waitFor();
        assertThat(output(recorder)).contains("until process " + target.pid() + " has ended");
        assertThat(Child.exitCode(recorder)).isEqualTo(Main.OK);
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.faults()).isEmpty();
            assertThat(recording.end()).isEqualTo("process " + target.pid() + " has ended");
        }
    }

    @Test
    void shouldSayThatTheDiskIsFullAndLeaveWhatCanBeRead() throws IOException, InterruptedException {
        Process full = recorder(Path.of("/dev/full")).start();
        assertThat(output(full)).isEqualTo("taskclock: record: /dev/full: No space left on device\n");
        assertThat(Child.exitCode(full)).isEqualTo(Main.FAILED);

        // A limit of 2 KB for any file stands for a disk that fills up; the JVM's own are larger.
        ProcessBuilder limited = recorder(file, "--for", "60s");
        limited.command().add(1, "-XX:-UsePerfData");
        limited.command().addAll(0, List.of("bash", "-c", "ulimit -f 2 && exec \"$0\" \"$@\""));
        Process recorder = limited.start();
        assertThat(output(recorder).lines().reduce((a, b) -> b)).hasValueSatisfying(last -> assertThat(last)
                .startsWith("taskclock: record: " + file + ": ")
                .endsWith("can be read"));
        assertThat(Child.exitCode(recorder)).isEqualTo(Main.FAILED);
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.frames()).isPositive();
            assertThat(recording.faults()).isEmpty();
        }
    }

    @Test
    void shouldSayWhatIsWrong() throws IOException, InterruptedException {
        assertThat(Child.run("record", "999999999", "-o", file.toString()).exitCode())
                .isEqualTo(Main.NO_PROCESS);
        assertThat(Child.run("replay", folder.resolve("none").toString(), "--top=-5"))
                .isEqualTo(new Child(Main.USAGE, "", "taskclock: --top -5: 0 or more: see taskclock replay --help\n"));
        assertThat(Child.run("replay", folder.resolve("none").toString()))
                .isEqualTo(new Child(
                        Main.FAILED, "", "taskclock: replay: " + folder.resolve("none") + ": there is no such file\n"));
    }
}
