// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.monitor.recording.IntervalSummary;
import org.taskclock.monitor.recording.Recording;
import org.taskclock.monitor.recording.RecordingOutline;
import org.taskclock.monitor.recording.RecordingWriter;

/** {@code taskclock replay} of a synthetic recording as text. */
@Tag("slow17")
class ReplayTest {
    @TempDir
    private Path directory;

    private Path file;

    @BeforeEach
    void writeRecording() throws IOException {
        file = directory.resolve("recording.gz");
        try (RecordingWriter writer = new RecordingWriter(file, RecordingWriter.Limits.NONE, "test", Map.of())) {
            for (int i = 0; i < 300; i++) writer.write(HistoryTest.interval(i, Map.of(1, 10)));
            writer.end("test");
        }
    }

    private CliResult replay(String... options) throws Exception {
        String[] all = new String[options.length + 3];
        all[0] = "replay";
        all[1] = file.toString();
        all[2] = "--csv";
        System.arraycopy(options, 0, all, 3, options.length);
        return CliResult.runHere(all);
    }

    @Test
    void shouldRejectTimesOutsideOfTheRecording() throws Exception {
        for (String option : List.of("--at", "--from", "--to")) {
            for (String time : List.of("10:05:01", "09:59", "+6m", "2026-11-21T09:59:59Z", "2026-11-22T10:01:00Z")) {
                assertThat(replay(option, time))
                        .isEqualTo(new CliResult(
                                Main.USAGE,
                                "",
                                "taskclock: " + option + " " + time + " is outside of " + file
                                        + ": it covers 2026-11-21 10:00:00 to 2026-11-21 10:05:00 (UTC):"
                                        + " see taskclock replay --help\n"));
            }
        }
    }

    @Test
    void shouldAcceptTimesWithinTheRecording() throws Exception {
        assertThat(replay("--at", "10:05:00").out().lines())
                .hasSize(2)
                .last()
                .asString()
                .startsWith("2026-11-21T10:05:00Z");
        assertThat(replay("--at", "10:00").out().lines())
                .hasSize(2)
                .last()
                .asString()
                .startsWith("2026-11-21T10:00:01Z");
        assertThat(replay("--from", "+1m", "--to", "10:02").out().lines()).hasSize(1 + 61);
        assertThat(replay("--from", "+3m", "--to", "+2m").err())
                .isEqualTo("taskclock: no interval ended in that time range: see taskclock replay --help\n");
        CliResult outside = replay("--at", "+1m", "--from", "+2m");
        assertThat(outside.err()).startsWith("taskclock: --at +1m is not between --from and --to: ");
        assertThat(outside.exitCode()).isEqualTo(Main.USAGE);
    }

    @Test
    void shouldCallADamagedRecordingDamaged() throws Exception {
        try (RecordingWriter writer = new RecordingWriter(file, RecordingWriter.Limits.NONE, "test", Map.of())) {
            for (int i = 0; i < 3; i++) writer.write(HistoryTest.interval(i, Map.of(1, 10)));
            writer.end("test");
        }
        byte[] all = Files.readAllBytes(file);
        for (int at : new int[] {1, 12, 60, all.length / 2, all.length - 6}) {
            byte[] damaged = all.clone();
            damaged[at] ^= 0x10;
            Files.write(file, damaged);
            CliResult replay = replay();
            assertThat(replay.exitCode()).as("byte " + at).isEqualTo(Main.FAILED);
            assertThat(replay.err())
                    .startsWith("taskclock: replay: " + file + ": is damaged")
                    .hasLineCount(1);
            CliResult report = CliResult.runHere("report", file.toString(), "-o", file + ".html");
            assertThat(report.exitCode()).isEqualTo(Main.FAILED);
            assertThat(report.err())
                    .startsWith("taskclock: " + file + ": is damaged")
                    .hasLineCount(1);
        }
    }

    @Test
    void shouldNotDenyFindingsThatAreNotReadYet() throws IOException {
        ViewState view = new ViewState();
        try (Recording recording = Recording.open(file)) {
            recording.step(100);
            view.position = recording.position();
            ReplayControl control = new ReplayControl(recording, view, new QueryExecutor(new LinkedBlockingQueue<>()));
            for (boolean forward : new boolean[] {false, true}) {
                control.jump(forward);
                assertThat(view.message)
                        .isEqualTo("No " + (forward ? "later" : "earlier")
                                + " finding so far: still reading the recording");
            }
            RecordingOutline outline = new RecordingOutline(recording);
            for (List<IntervalSummary> next = outline.next(); !next.isEmpty(); next = outline.next())
                view.outline.addAll(next);
            control.jump(false);
            assertThat(view.message).isEqualTo("No earlier finding in the recording");
            control.jump(true);
            assertThat(view.message).isEqualTo("No later finding in the recording");
        }
    }
}
