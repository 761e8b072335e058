// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordingTest {
    private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");
    private static final int FRAMES = 300;
    private static final List<Row.Kind> KINDS = List.of(Row.Kind.values());

    @TempDir
    private Path folder;

    private final Random random = new Random(7);

    /** Threads that come, go, sleep, and are called what one would not like to find in a file. */
    private List<Frame> frames(int count) {
        List<String> names = List.of("main", "pool-1-thread-", "\"quoted\" \\ \n\t", "ä漢\ud83d\ude00", "", "main");
        List<Frame> frames = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            List<Row> rows = new ArrayList<>();
            for (int tid = 1; tid <= 40; tid++) {
                if ((tid + i) % 50 < 10) continue;
                boolean busy = tid % 8 == 0;
                String name = names.get(tid % names.size()) + (tid % 3 == 0 ? tid : "");
                Row.Kind kind = KINDS.get(tid % KINDS.size());
                rows.add(new Row(
                        4711,
                        kind == Row.Kind.VIRTUAL ? 0 : tid,
                        tid + 10,
                        name,
                        tid % 5 == 0,
                        kind,
                        "pool",
                        kind == Row.Kind.VIRTUAL ? random.nextInt(100) : 1,
                        busy ? random.nextInt(1_000_000) : 0,
                        busy ? random.nextInt(500_000) : 0,
                        tid % 7 == 0 ? -1 : 0,
                        busy ? random.nextInt(100) : 0,
                        -1,
                        busy ? 'R' : 'S'));
            }
            rows.sort(Comparator.comparingLong(Row::cpuNanos).reversed());
            Totals totals = new Totals(random.nextInt(), 1, -1, 1.5, -1, 3, 2, 4);
            List<Diagnosis> diagnoses =
                    i % 10 == 0 ? List.of(new Diagnosis("yield-storm", 8, "It yields.", List.of("a", "b"))) : List.of();
            frames.add(new Frame(
                    START.plusSeconds(i + 1),
                    1_000_000_000 + i,
                    4711,
                    "Main",
                    "proc",
                    rows,
                    totals,
                    diagnoses,
                    List.of("note " + i)));
        }
        return frames;
    }

    private Path write(List<Frame> frames) throws IOException {
        Path file = folder.resolve("recording.gz");
        try (RecordingWriter writer =
                new RecordingWriter(file, RecordingWriter.Limits.NONE, "test", Map.of("a", "b"))) {
            for (Frame frame : frames) writer.write(frame);
            writer.end("it was stopped");
        }
        return file;
    }

    /** Rows that used as much as each other may come in any order. */
    private static Frame sorted(Frame frame) {
        List<Row> rows = new ArrayList<>(frame.rows());
        rows.sort(Comparator.comparing(Row::toString));
        return new Frame(
                frame.end(),
                frame.intervalNanos(),
                frame.pid(),
                frame.name(),
                frame.source(),
                rows,
                frame.totals(),
                frame.diagnoses(),
                frame.notes());
    }

    private static List<Frame> sorted(Iterable<Frame> frames) {
        List<Frame> all = new ArrayList<>();
        for (Frame frame : frames) {
            assertThat(frame.rows())
                    .isSortedAccordingTo(Comparator.comparingLong(Row::cpuNanos).reversed());
            all.add(sorted(frame));
        }
        return all;
    }

    @Test
    void shouldGiveBackWhatWasWritten() throws IOException {
        List<Frame> frames = frames(FRAMES);
        try (Recording recording = Recording.open(write(frames))) {
            assertThat(recording.faults()).isEmpty();
            assertThat(recording.end()).isEqualTo("it was stopped");
            assertThat(recording.machine()).isEqualTo(Map.of("a", "b"));
            assertThat(sorted(recording)).isEqualTo(sorted(frames));
        }
    }

    @Test
    void shouldSeekStepAndLimit() throws IOException {
        List<Frame> frames = frames(FRAMES);
        try (Recording recording = Recording.open(write(frames))) {
            recording.seek(START.plusMillis(250_500));
            assertThat(recording.next().end()).isEqualTo(START.plusSeconds(251));
            assertThat(recording.step(-200).end()).isEqualTo(START.plusSeconds(51));
            assertThat(recording.next().end()).isEqualTo(START.plusSeconds(52));
            assertThat(recording.step(-1_000).end()).isEqualTo(START.plusSeconds(1));
            assertThat(recording.step(1_000).end()).isEqualTo(START.plusSeconds(FRAMES));
            assertThat(recording.next()).isNull();
            recording.limit(START.plusSeconds(100), START.plusSeconds(130));
            assertThat(sorted(recording)).isEqualTo(sorted(frames.subList(99, 130)));
            assertThat(recording.next().end()).isEqualTo(START.plusSeconds(100));
            assertThat(recording.step(1_000).end()).isEqualTo(START.plusSeconds(130));
        }
    }

    @Test
    void shouldLoseNothingThatWasWrittenWhereTheFileBreaksOff() throws IOException {
        List<Frame> frames = frames(FRAMES);
        Path file = folder.resolve("cut.gz");
        List<Long> sizes = new ArrayList<>();
        try (RecordingWriter writer = new RecordingWriter(file, RecordingWriter.Limits.NONE, "test", Map.of())) {
            for (Frame frame : frames) {
                writer.write(frame);
                sizes.add(Files.size(file));
            }
        }
        byte[] all = Files.readAllBytes(file);
        List<Frame> expected = sorted(frames);
        for (int i = 0; i < FRAMES; i += 70) {
            // Some bytes less, and the last frame is not whole; some more are of no use.
            for (int more : new int[] {-60, 0, 1, 20}) {
                int size = (int) Math.max(0, Math.min(all.length, sizes.get(i) + more));
                Files.write(file, java.util.Arrays.copyOf(all, size));
                try (Recording recording = Recording.open(file)) {
                    int whole = more < 0 ? i : i + 1;
                    assertThat(sorted(recording)).isEqualTo(expected.subList(0, whole));
                    assertThat(recording.end()).isNull();
                }
            }
        }
    }

    @Test
    void shouldPassOverWhatIsDamaged() throws IOException {
        List<Frame> frames = frames(FRAMES);
        Path file = write(frames);
        byte[] all = Files.readAllBytes(file);
        for (int at : new int[] {all.length / 2, 5, 200}) {
            byte[] damaged = all.clone();
            damaged[at] ^= 0x10;
            Files.write(file, damaged);
            try (Recording recording = Recording.open(file)) {
                List<Frame> left = sorted(recording);
                // A block is 120 frames; a flag of a header that is wrong (byte 5 is not read) damages none.
                assertThat(left).hasSize(at == 5 ? FRAMES : FRAMES - 120);
                assertThat(sorted(frames)).containsAll(left);
                assertThat(recording.faults()).hasSize(at == 5 ? 0 : 1);
                assertThat(String.join("", recording.faults())).contains(at == 5 ? "" : "damaged");
            }
        }
    }

    @Test
    void shouldReadWhateverIsThrownAtItOrSayWhyNot() throws IOException {
        Path file = write(frames(30));
        byte[] all = Files.readAllBytes(file);
        List<Frame> right = sorted(frames(30));
        for (int i = 0; i < 300; i++) {
            byte[] damaged = all.clone();
            for (int k = random.nextInt(4); k >= 0; k--) damaged[random.nextInt(all.length)] = (byte) random.nextInt();
            Files.write(file, damaged);
            try (Recording recording = Recording.open(file)) {
                int read = sorted(recording).size();
                if (read < right.size()) assertThat(recording.faults()).isNotEmpty();
            } catch (IOException e) {
                assertThat(e.getMessage()).contains(file.toString());
            }
        }
    }

    @Test
    void shouldRefuseWhatItDoesNotKnow() throws IOException {
        Path file = folder.resolve("other");
        Files.writeString(file, "no recording");
        assertThatThrownBy(() -> Recording.open(file))
                .isInstanceOf(IOException.class)
                .hasMessage(file + ": is no recording of taskclock");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write("{\"format\":\"taskclock-recording/2\",\"what\":1}\n".getBytes(UTF_8));
        }
        assertThatThrownBy(() -> Recording.open(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("was made by a newer taskclock")
                .hasMessageContaining("taskclock-recording/2");
    }

    @Test
    void shouldKeepTheNewestWhereItsSizeOrAgeIsLimited() throws IOException {
        List<Frame> frames = frames(FRAMES);
        Path file = folder.resolve("limited.gz");
        long limit = Files.size(write(frames)) / 3;
        List<RecordingWriter.Limits> limits = List.of(
                new RecordingWriter.Limits(limit, Duration.ZERO),
                new RecordingWriter.Limits(0, Duration.ofSeconds(80)));
        for (RecordingWriter.Limits each : limits) {
            try (RecordingWriter writer = new RecordingWriter(file, each, "test", Map.of())) {
                for (Frame frame : frames) {
                    writer.write(frame);
                    if (each.bytes() == 0 || !Files.exists(RecordingWriter.older(file))) continue;
                    // A frame, with all names at the start of a file, is what it may be more.
                    assertThat(Files.size(file) + Files.size(RecordingWriter.older(file)))
                            .isLessThan(limit + 4_000);
                }
            }
            try (Recording recording = Recording.open(file)) {
                List<Frame> kept = sorted(recording);
                assertThat(kept).hasSizeBetween(each.bytes() == 0 ? 40 : 20, each.bytes() == 0 ? 82 : 150);
                assertThat(kept).isEqualTo(sorted(frames.subList(FRAMES - kept.size(), FRAMES)));
            }
            Files.delete(RecordingWriter.older(file));
        }
    }

    @Test
    void shouldNotTakeTheOlderHalfOfAnother() throws IOException {
        List<Frame> frames = frames(10);
        Path other = write(frames(20));
        Path older = RecordingWriter.older(other);
        Files.move(other, older);
        try (Recording recording = Recording.open(write(frames))) {
            assertThat(recording.frames()).isEqualTo(10);
        }
        assertThat(Collections.list(Collections.enumeration(List.of(older)))).allMatch(Files::exists);
    }
}
