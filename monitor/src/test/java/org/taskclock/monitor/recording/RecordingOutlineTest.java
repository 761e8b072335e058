// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.finding.GarbageCollection;
import org.taskclock.monitor.finding.YieldStorm;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** The outline of a recording, its position, and damage to small recordings. */
@Tag("slow17")
class RecordingOutlineTest {
    private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");
    private static final long SECOND = 1_000_000_000;

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void setFile() {
        file = folder.resolve("recording.gz");
    }

    private void write(int count) throws IOException {
        try (RecordingWriter writer = new RecordingWriter(file, RecordingWriter.Limits.NONE, "test", Map.of())) {
            for (int i = 0; i < count; i++) writer.write(interval(i));
            writer.end("it was stopped");
        }
    }

    /** Thread 7 storms in intervals 10 to 19 of each 100; garbage collection is in every tenth interval. */
    private static Interval interval(int number) {
        List<Finding> findings = new ArrayList<>();
        if (number % 100 / 10 == 1) findings.add(new Finding(new YieldStorm(), 7, "It \"yields\".", List.of("a")));
        if (number % 10 == 5) findings.add(new Finding(new GarbageCollection(), 0, "It collects.", List.of()));
        long cpu = number * SECOND / 1000;
        ThreadUsage thread = ThreadUsage.of(1, 7, "main", ThreadKind.JAVA)
                .javaId(8)
                .cpu(cpu, cpu)
                .waited(0)
                .switches(0, 0)
                .state('R')
                .build();
        return new Interval(
                START.plusSeconds(number + 1),
                SECOND,
                1,
                "Main",
                "proc",
                List.of(thread),
                new ProcessUsage(number == 3 ? -1 : cpu, cpu, -1, 0, -1, cpu, 2, 0),
                findings,
                List.of());
    }

    private static List<IntervalSummary> readAll(Recording recording) throws IOException {
        RecordingOutline outline = new RecordingOutline(recording);
        List<IntervalSummary> all = new ArrayList<>();
        List<IntervalSummary> next = outline.next();
        while (!next.isEmpty()) {
            all.addAll(next);
            next = outline.next();
        }
        return all;
    }

    @Test
    void shouldSummarizeEachInterval() throws IOException {
        write(300);
        try (Recording recording = Recording.open(file)) {
            List<IntervalSummary> all = readAll(recording);
            assertThat(all).hasSize(300);
            for (int i = 0; i < 300; i++) {
                IntervalSummary summary = all.get(i);
                boolean yields = i % 100 / 10 == 1;
                List<FindingKind> kinds = new ArrayList<>();
                if (yields) kinds.add(new YieldStorm());
                if (i % 10 == 5) kinds.add(new GarbageCollection());
                assertThat(summary.kinds()).as("interval " + i).isEqualTo(kinds);
                assertThat(summary.begins()).as("interval " + i).isEqualTo(i % 100 == 10 || i % 10 == 5);
                assertThat(summary.cpuPercent()).isEqualTo(i == 3 ? -1 : i / 10f);
                assertThat(summary.seconds()).isEqualTo(1);
                assertThat(Instant.ofEpochMilli(summary.endMillis())).isEqualTo(START.plusSeconds(i + 1));
            }
            recording.limit(START.plusSeconds(111), START.plusSeconds(260));
            assertThat(readAll(recording))
                    .isEqualTo(all.subList(110, 260).stream()
                            .map(s -> s.equals(all.get(110))
                                    ? new IntervalSummary(s.endMillis(), s.seconds(), s.cpuPercent(), s.kinds(), true)
                                    : s)
                            .toList());
        }
    }

    @Test
    void shouldDistinguishTheThreadsOfFindings() throws IOException {
        Finding seven = new Finding(new YieldStorm(), 7, "a", List.of());
        Finding eight = new Finding(new YieldStorm(), 8, "b", List.of());
        List<List<Finding>> all = List.of(List.of(seven), List.of(seven), List.of(seven, eight), List.of(eight));
        try (RecordingWriter writer = new RecordingWriter(file, RecordingWriter.Limits.NONE, "test", Map.of())) {
            for (List<Finding> findings : all) {
                Interval interval = interval(0);
                writer.write(new Interval(
                        interval.end(),
                        SECOND,
                        1,
                        "Main",
                        "proc",
                        interval.threads(),
                        interval.totals(),
                        findings,
                        List.of()));
            }
            writer.end("it was stopped");
        }
        try (Recording recording = Recording.open(file)) {
            List<IntervalSummary> summaries = readAll(recording);
            assertThat(summaries).extracting(IntervalSummary::begins).containsExactly(true, false, true, false);
            assertThat(summaries).extracting(IntervalSummary::kinds).containsOnly(List.of(new YieldStorm()));
        }
    }

    @Test
    void shouldReturnThePositionAndTheIntervalsBefore() throws IOException {
        write(300);
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.position()).isEqualTo(new Recording.Position(0, 300, START, START.plusSeconds(300)));
            assertThat(recording.previous(60)).isEmpty();
            recording.step(1);
            assertThat(recording.position().number()).isZero();
            recording.step(130);
            assertThat(recording.position().number()).isEqualTo(130);
            assertThat(recording.previous(60))
                    .hasSize(60)
                    .extracting(Interval::end)
                    .startsWith(START.plusSeconds(71))
                    .endsWith(START.plusSeconds(130));
            assertThat(recording.next().end()).isEqualTo(START.plusSeconds(132));
            recording.limit(START.plusSeconds(100), START.plusSeconds(150));
            recording.next();
            recording.next();
            assertThat(recording.position())
                    .isEqualTo(new Recording.Position(1, 51, START.plusSeconds(99), START.plusSeconds(150)));
            assertThat(recording.previous(60)).hasSize(1);
        }
    }

    @Test
    void shouldCallARecordingWithOneFlippedByteDamaged() throws IOException {
        write(4);
        byte[] all = Files.readAllBytes(file);
        int rejected = 0;
        for (int at = 0; at < all.length; at++) {
            for (int flip : new int[] {0x01, 0x10, 0xff}) {
                byte[] damaged = all.clone();
                damaged[at] ^= (byte) flip;
                Files.write(file, damaged);
                String change = "byte " + at + " ^ " + flip;
                assertThat(Recording.isLikely(file)).as(change).isTrue();
                try (Recording recording = Recording.open(file)) {
                    boolean isWhole = recording.intervalCount() == 4 && recording.endReason() != null;
                    if (!isWhole)
                        assertThat(recording.endReason() == null
                                        || !recording.faults().isEmpty())
                                .isTrue();
                } catch (IOException e) {
                    rejected++;
                    assertThat(e.getMessage()).as(change).startsWith(file + ": is damaged");
                }
            }
        }
        assertThat(rejected).isGreaterThan(all.length); // most of them
    }

    @Test
    void shouldCallATruncatedRecordingWithAMalformedHeaderDamaged() throws IOException {
        for (String header : List.of("1\",\"row\":[", "\"}", "0\"}", "x\"}")) {
            try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
                out.write((RecordingFormat.HEADER + header + "\n").getBytes(UTF_8));
            }
            byte[] all = Files.readAllBytes(file);
            Files.write(file, Arrays.copyOf(all, all.length - 1));
            assertThatThrownBy(() -> Recording.open(file))
                    .as(header)
                    .hasMessage(file + ": is damaged or incomplete: no block can be read");
        }
    }

    /** The checksum is right, so the file was not damaged, but written by something else. */
    @Test
    void shouldRejectMalformedContent() throws IOException {
        String header = RecordingFormat.header(RecordingFormat.Header.of("id", START, "test", Map.of()));
        for (String line : List.of("{\"time\":\"yesterday\"}", "{\"time\":\"", "{\"end\":\"")) {
            try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
                out.write((header + line + "\n").getBytes(UTF_8));
            }
            assertThatThrownBy(() -> Recording.open(file))
                    .as(line)
                    .hasMessage(file + ": is damaged: no interval can be read");
        }
        for (String member : List.of("\"id\":\"id\",", "\"started\":\"" + START + "\",")) {
            assertThat(header).contains(member);
            try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
                out.write(header.replace(member, "").getBytes(UTF_8));
            }
            assertThatThrownBy(() -> Recording.open(file))
                    .as("without " + member)
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith(file + ": is ");
        }
    }

    @Test
    void shouldNotCallOtherFilesDamaged() throws IOException {
        for (String text : List.of("", "x", "PK\u0003\u0004 not a recording, but something else", "{}")) {
            Files.writeString(file, text);
            assertThat(Recording.isLikely(file)).isFalse();
            assertThatThrownBy(() -> Recording.open(file)).hasMessage(file + ": is not a TaskClock recording");
        }
        try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write("a log file\n".repeat(100).getBytes(UTF_8));
        }
        assertThatThrownBy(() -> Recording.open(file)).hasMessage(file + ": is not a TaskClock recording");
    }
}
