// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.finding.Evidence;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.YieldStorm;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.EndedPool;
import org.taskclock.monitor.usage.HeapUsage;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.SectionUsage;
import org.taskclock.monitor.usage.ThreadUsage;

class RecordingTest {
    private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");
    private static final int COUNT = 300;
    private static final List<ThreadKind> KINDS = List.of(ThreadKind.values());

    @TempDir
    private Path folder;

    private final Random random = new Random(7);

    /** Returns intervals with threads that start, end, sleep, and have hostile names. */
    private List<Interval> intervals(int count) {
        List<String> names = List.of("main", "pool-1-thread-", "\"quoted\" \\ \n\t", "ä漢\ud83d\ude00", "", "main");
        List<Interval> intervals = new ArrayList<>();
        Map<Integer, Long> totals = new HashMap<>();
        for (int tid = 1; tid <= 40; tid++) totals.put(tid, 1_000_000L * tid);
        for (int i = 0; i < count; i++) {
            List<ThreadUsage> threads = new ArrayList<>();
            for (int tid = 1; tid <= 40; tid++) {
                if ((tid + i) % 50 < 10) continue;
                boolean busy = tid % 8 == 0;
                String name = names.get(tid % names.size()) + (tid % 3 == 0 ? tid : "");
                ThreadKind kind = KINDS.get(tid % KINDS.size());
                int cpu = busy ? random.nextInt(1_000_000) : 0;
                // The totals of groups of virtual threads do not always increase by the CPU time of the interval.
                long total = totals.merge(tid, (long) cpu, Long::sum)
                        + (kind == ThreadKind.VIRTUAL ? random.nextInt(10) : 0);
                boolean totalKnown = tid % 9 != 0;
                threads.add(ThreadUsage.of(4711, kind == ThreadKind.VIRTUAL ? 0 : tid, name, kind)
                        .javaId(tid + 10)
                        .truncated(tid % 5 == 0)
                        .pool("pool")
                        .threads(kind == ThreadKind.VIRTUAL ? random.nextInt(100) : 1)
                        .cpu(cpu, busy ? random.nextInt(500_000) : 0)
                        .waited(tid % 7 == 0 ? -1 : 0)
                        .switches(busy ? random.nextInt(100) : 0, -1)
                        .state(busy ? 'R' : 'S')
                        .total(totalKnown ? total : -1, totalKnown ? total - tid : -1)
                        .java(tid % 4 == 0 ? java(busy, i) : JavaStatus.UNKNOWN)
                        .sections(kind == ThreadKind.ACCOUNT ? sections(tid) : SectionUsage.UNKNOWN)
                        .build());
            }
            threads.sort(Comparator.comparingLong(ThreadUsage::cpuNanos).reversed());
            Map<Boolean, List<ThreadUsage>> byAccount =
                    threads.stream().collect(Collectors.partitioningBy(usage -> usage.kind() == ThreadKind.ACCOUNT));
            HeapUsage heap = i % 3 == 0 ? null : new HeapUsage(i, 2, 3, 4, 5);
            ProcessUsage process = new ProcessUsage(
                    random.nextInt(),
                    1,
                    -1,
                    1.5,
                    -1,
                    3,
                    2,
                    4,
                    i % 2,
                    heap,
                    new VirtualThreadCounts(i, 2, i % 5 - 1, 2));
            List<EndedPool> ended = new ArrayList<>();
            for (int pool = 0; pool < i / 20; pool++)
                ended.add(new EndedPool("pool-" + pool, KINDS.get(pool % KINDS.size()), i / 30 + 1, i / 30 * 7L, pool));
            List<Finding> findings = i % 10 == 0
                    ? List.of(new Finding(new YieldStorm(), 8, "It yields.", List.of("a", "b")))
                    : List.of();
            intervals.add(new Interval(
                    START.plusSeconds(i + 1),
                    1_000_000_000 + i,
                    4711,
                    "Main",
                    "proc",
                    byAccount.get(false),
                    process,
                    findings,
                    List.of("note " + i),
                    ended,
                    byAccount.get(true)));
        }
        return intervals;
    }

    private SectionUsage sections(int tid) {
        return switch (tid % 3) {
            case 0 -> SectionUsage.UNKNOWN;
            case 1 -> new SectionUsage(random.nextInt(3), -1, -1);
            default -> new SectionUsage(1 + random.nextInt(3), random.nextInt(1_000), 1_000);
        };
    }

    private static JavaStatus java(boolean busy, int i) {
        return busy
                ? new JavaStatus(
                        Thread.State.BLOCKED, "Lock", "0x" + i, true, i, "owner \"" + i, i, 2L * i, 3L << i % 40)
                : new JavaStatus(Thread.State.WAITING, "Object", "", false, 0, "", 0, 7, -1);
    }

    @Test
    void shouldNotRepeatSleepingThreadsWhoseEstimatesChange() {
        ThreadUsage usage = ThreadUsage.of(1, 2, "a", ThreadKind.JAVA)
                .javaId(3)
                .cpu(0, 0)
                .waited(0)
                .switches(0, 0)
                .state('S')
                .build();
        RecordingFormat format = new RecordingFormat();
        for (int i = 0; i < 2; i++) {
            JavaStatus java = new JavaStatus(Thread.State.WAITING, "Object", "0x" + i, false, 0, "", 0, i, 0);
            String lines = format.encode(new Interval(
                    START,
                    1_000_000_000,
                    1,
                    "Main",
                    "proc",
                    List.of(usage.change().java(java).build()),
                    new ProcessUsage(0, 0, 0, 0, 0, 0, 1, 0),
                    List.of(),
                    List.of()));
            if (i == 0) assertThat(lines).contains("[\"WAITING\",\"Object\",\"\",false,0,\"\",0,0,0]");
            else assertThat(lines).contains("\"rows\":[]");
        }
    }

    private Path write(List<Interval> intervals) throws IOException {
        Path file = folder.resolve("recording.gz");
        try (RecordingWriter writer =
                new RecordingWriter(file, RecordingWriter.Limits.NONE, "test", Map.of("a", "b"))) {
            for (Interval interval : intervals) writer.write(interval);
            writer.end("it was stopped");
        }
        return file;
    }

    /** Sorts threads with equal CPU time, whose order may change. */
    private static Interval sorted(Interval interval) {
        return new Interval(
                interval.end(),
                interval.intervalNanos(),
                interval.pid(),
                interval.name(),
                interval.source(),
                sorted(interval.threads()),
                interval.totals(),
                interval.findings(),
                interval.notes(),
                interval.endedPools(),
                sorted(interval.accounts()));
    }

    private static List<ThreadUsage> sorted(List<ThreadUsage> usages) {
        return usages.stream()
                .sorted(Comparator.comparing(ThreadUsage::toString))
                .toList();
    }

    private static List<Interval> allSorted(Iterable<Interval> intervals) {
        List<Interval> all = new ArrayList<>();
        for (Interval interval : intervals) {
            assertThat(interval.threads())
                    .isSortedAccordingTo(
                            Comparator.comparingLong(ThreadUsage::cpuNanos).reversed());
            all.add(sorted(interval));
        }
        return all;
    }

    @Test
    void shouldReadWhatWasWritten() throws IOException {
        List<Interval> intervals = intervals(COUNT);
        try (Recording recording = Recording.open(write(intervals))) {
            assertThat(recording.faults()).isEmpty();
            assertThat(recording.endReason()).isEqualTo("it was stopped");
            assertThat(recording.machine()).isEqualTo(Map.of("a", "b"));
            assertThat(allSorted(recording)).isEqualTo(allSorted(intervals));
        }
    }

    /**
     * Written before the format had the CPU time since the start of a thread, and the machine's user time, and with the
     * throttled time of all run queues.
     */
    @Test
    void shouldReadEvidenceWithinTheLimits() throws IOException {
        List<Evidence> written = new ArrayList<>();
        List<Interval> intervals = intervals(COUNT);
        Path file = folder.resolve("evidence.gz");
        try (RecordingWriter writer = new RecordingWriter(file, RecordingWriter.Limits.NONE, "test", Map.of())) {
            for (int i = 0; i < COUNT; i++) {
                writer.write(intervals.get(i));
                if (i % 100 != 50) continue;
                Instant end = intervals.get(i).end();
                Map<String, String> files = Map.of(Evidence.THREADS, "\"a\" #1\n", Evidence.WHY, "\u0000 \u2028");
                written.add(new Evidence("yield-storm", "It yields.", end.minusSeconds(6), end, files));
                writer.write(written.get(written.size() - 1));
            }
        }
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.evidence()).isEqualTo(written);
            assertThat(recording).hasSize(COUNT);
            recording.limit(START.plusSeconds(100), START.plusSeconds(200));
            assertThat(recording.evidence()).containsExactly(written.get(1));
        }
    }

    @Test
    void shouldReadFilesOfOlderVersions() throws IOException {
        Path file = folder.resolve("older.gz");
        String lines = """
                {"format":"taskclock-recording/1","id":"7","started":"2026-11-21T10:00:00Z","made":"0.1.0","machine":{}}
                {"thread":0,"pid":4711,"tid":12,"javaId":31,"name":"busy-4","kind":"JAVA","pool":"busy-#"}
                {"time":"2026-11-21T10:00:01Z","intervalNanos":1000000000,"pid":4711,"name":"Main","source":"proc",\
                "totals":{"processNanos":9,"processUserNanos":7,"containerNanos":-1,"containerCores":0.0,\
                "throttledNanos":7000000000,"machineNanos":20,"processors":2,"ownNanos":1},"findings":[],"notes":[],\
                "rows":[[0,5,3,1,7,0,"R"]],"gone":[]}
                {"end":"interrupted"}
                """;
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write(lines.getBytes(UTF_8));
        }
        try (Recording recording = Recording.open(file)) {
            Interval interval = recording.next();
            assertThat(interval.threads())
                    .containsExactly(ThreadUsage.of(4711, 12, "busy-4", ThreadKind.JAVA)
                            .javaId(31)
                            .cpu(5, 3)
                            .waited(1)
                            .switches(7, 0)
                            .state('R')
                            .build());
            assertThat(interval.totals()).isEqualTo(new ProcessUsage(9, 7, -1, 0, 1_000_000_000, 20, 2, 1));
            assertThat(interval.endedPools()).isEmpty();
            assertThat(recording.faults()).isEmpty();
        }
    }

    @Test
    void shouldSeekStepAndLimit() throws IOException {
        List<Interval> intervals = intervals(COUNT);
        try (Recording recording = Recording.open(write(intervals))) {
            recording.seek(START.plusMillis(250_500));
            assertThat(recording.next().end()).isEqualTo(START.plusSeconds(251));
            assertThat(recording.step(-200).end()).isEqualTo(START.plusSeconds(51));
            assertThat(recording.next().end()).isEqualTo(START.plusSeconds(52));
            assertThat(recording.step(-1_000).end()).isEqualTo(START.plusSeconds(1));
            assertThat(recording.step(1_000).end()).isEqualTo(START.plusSeconds(COUNT));
            assertThat(recording.next()).isNull();
            recording.limit(START.plusSeconds(100), START.plusSeconds(130));
            assertThat(allSorted(recording)).isEqualTo(allSorted(intervals.subList(99, 130)));
            assertThat(recording.next().end()).isEqualTo(START.plusSeconds(100));
            assertThat(recording.step(1_000).end()).isEqualTo(START.plusSeconds(130));
        }
    }

    @Test
    void shouldReadAllCompleteIntervalsOfTruncatedFile() throws IOException {
        List<Interval> intervals = intervals(COUNT);
        Path file = folder.resolve("truncated.gz");
        List<Long> sizes = new ArrayList<>();
        try (RecordingWriter writer = new RecordingWriter(file, RecordingWriter.Limits.NONE, "test", Map.of())) {
            for (Interval interval : intervals) {
                writer.write(interval);
                sizes.add(Files.size(file));
            }
        }
        byte[] all = Files.readAllBytes(file);
        List<Interval> expected = allSorted(intervals);
        for (int i = 0; i < COUNT; i += 70) {
            // With fewer bytes, the last interval is incomplete. A few more bytes make no difference.
            for (int more : new int[] {-60, 0, 1, 20}) {
                int size = (int) Math.max(0, Math.min(all.length, sizes.get(i) + more));
                Files.write(file, Arrays.copyOf(all, size));
                try (Recording recording = Recording.open(file)) {
                    int complete = more < 0 ? i : i + 1;
                    assertThat(allSorted(recording)).isEqualTo(expected.subList(0, complete));
                    assertThat(recording.endReason()).isNull();
                }
            }
        }
    }

    @Test
    void shouldSkipDamagedBlocks() throws IOException {
        List<Interval> intervals = intervals(COUNT);
        Path file = write(intervals);
        byte[] all = Files.readAllBytes(file);
        for (int at : new int[] {all.length / 2, 5, 200}) {
            byte[] damaged = all.clone();
            damaged[at] ^= (byte) 0xff; // all bits, because some are padding
            Files.write(file, damaged);
            try (Recording recording = Recording.open(file)) {
                List<Interval> undamaged = allSorted(recording);
                // A block has 120 intervals. Byte 5 is part of the time in the gzip header, which is not read.
                assertThat(undamaged).hasSize(at == 5 ? COUNT : COUNT - 120);
                assertThat(allSorted(intervals)).containsAll(undamaged);
                assertThat(recording.faults()).hasSize(at == 5 ? 0 : 1);
                assertThat(String.join("", recording.faults())).contains(at == 5 ? "" : "damaged");
            }
        }
    }

    @Test
    void shouldReadOrReportRandomDamage() throws IOException {
        Path file = write(intervals(30));
        byte[] all = Files.readAllBytes(file);
        List<Interval> expected = allSorted(intervals(30));
        for (int i = 0; i < 300; i++) {
            byte[] damaged = all.clone();
            for (int k = random.nextInt(4); k >= 0; k--) damaged[random.nextInt(all.length)] = (byte) random.nextInt();
            Files.write(file, damaged);
            try (Recording recording = Recording.open(file)) {
                int read = allSorted(recording).size();
                if (read < expected.size()) assertThat(recording.faults()).isNotEmpty();
            } catch (IOException e) {
                assertThat(e.getMessage()).contains(file.toString());
            }
        }
    }

    @Test
    void shouldNotExpandABlockWithoutLimit() throws IOException {
        Path file = folder.resolve("bomb.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            byte[] zeros = new byte[1 << 20];
            for (int i = 0; i < 20; i++) out.write(zeros);
        }
        assertThat(Files.size(file)).isLessThan(100_000);
        try (FileChannel channel = FileChannel.open(file)) {
            RecordingBlock limited = RecordingBlock.read(channel, 0, 1 << 20);
            assertThat(limited.state()).isEqualTo(RecordingBlock.State.DAMAGED);
            assertThat(limited.lines()).isEmpty();
            assertThat(RecordingBlock.read(channel, 0, 20 << 20).state()).isEqualTo(RecordingBlock.State.COMPLETE);
        }
    }

    /** The checksum is right, but another program wrote the content. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"time\":\"+1000000000-12-31T23:59:59Z\"",
                "\"time\":\"-1000000000-01-01T00:00:00Z\"",
                "\"intervalNanos\":0",
                "\"name\":null",
                "\"notes\":null",
                "\"notes\":[null]",
                "\"findings\":null",
                "\"findings\":[null]",
                "\"findings\":[{\"kind\":\"gc\",\"tid\":1}]",
                "\"totals\":null",
                "\"totals\":{\"containerCores\":NaN}",
                "\"totals\":{\"containerCores\":1e999}"
            })
    void shouldRejectIntervalsThatCannotBeUsed(String member) throws IOException {
        String line = new RecordingFormat().encode(intervals(1).get(0)).lines().reduce("", (a, b) -> b);
        JsonObject object = JsonParser.parseString(line).getAsJsonObject();
        object.add("rows", new JsonArray());
        assertThat(new RecordingFormat().decode(object.toString())).isNotNull();
        object.asMap()
                .putAll(JsonParser.parseString("{" + member + "}")
                        .getAsJsonObject()
                        .asMap());
        assertThatThrownBy(() -> new RecordingFormat().decode(object.toString()))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("malformed line");
    }

    @Test
    void shouldRejectOtherFormats() throws IOException {
        Path file = folder.resolve("other");
        Files.writeString(file, "not a recording");
        assertThatThrownBy(() -> Recording.open(file))
                .isInstanceOf(IOException.class)
                .hasMessage(file + ": is not a TaskClock recording");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write("{\"format\":\"taskclock-recording/2\",\"what\":1}\n".getBytes(UTF_8));
        }
        assertThatThrownBy(() -> Recording.open(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("was written by a newer TaskClock")
                .hasMessageContaining("taskclock-recording/2");
    }

    @Test
    void shouldKeepNewestWithinLimits() throws IOException {
        List<Interval> intervals = intervals(COUNT);
        Path file = folder.resolve("limited.gz");
        long limit = Files.size(write(intervals)) / 3;
        List<RecordingWriter.Limits> limits = List.of(
                new RecordingWriter.Limits(limit, Duration.ZERO),
                new RecordingWriter.Limits(0, Duration.ofSeconds(80)));
        for (RecordingWriter.Limits each : limits) {
            try (RecordingWriter writer = new RecordingWriter(file, each, "test", Map.of())) {
                for (Interval interval : intervals) {
                    writer.write(interval);
                    if (each.bytes() == 0 || !Files.exists(RecordingWriter.older(file))) continue;
                    // The files may exceed the limit by one interval, which contains all names at the start of a file.
                    assertThat(Files.size(file) + Files.size(RecordingWriter.older(file)))
                            .isLessThan(limit + 4_000);
                }
            }
            try (Recording recording = Recording.open(file)) {
                List<Interval> kept = allSorted(recording);
                assertThat(kept).hasSizeBetween(each.bytes() == 0 ? 40 : 20, each.bytes() == 0 ? 82 : 150);
                assertThat(kept).isEqualTo(allSorted(intervals.subList(COUNT - kept.size(), COUNT)));
            }
            Files.delete(RecordingWriter.older(file));
        }
    }

    @Test
    void shouldIgnoreOlderHalfOfAnotherRecording() throws IOException {
        List<Interval> intervals = intervals(10);
        Path other = write(intervals(20));
        Path older = RecordingWriter.older(other);
        Files.move(other, older);
        try (Recording recording = Recording.open(write(intervals))) {
            assertThat(recording.intervalCount()).isEqualTo(10);
        }
        assertThat(older).exists();
    }
}
