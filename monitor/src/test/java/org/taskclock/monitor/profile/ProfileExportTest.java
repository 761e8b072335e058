// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.profiles.v1development.KeyValueAndUnit;
import io.opentelemetry.proto.profiles.v1development.Location;
import io.opentelemetry.proto.profiles.v1development.ProfilesDictionary;
import io.opentelemetry.proto.profiles.v1development.Sample;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads exported profiles with the parsers of those who define their formats. */
class ProfileExportTest {
    private static final Profile PROFILE = new Profile(
            4711,
            "Orders",
            "pool \"http-#\" (2 threads)",
            Instant.parse("2026-11-21T10:00:05.000000007Z"),
            5_000_000_000L,
            "test",
            10_000_000,
            40_000_000,
            45_000_001,
            30_000_000,
            List.of(
                    new Profile.Stack(
                            "http-#",
                            "http-1",
                            12,
                            "kernel",
                            List.of("org.example.Orders.run_[j]", "write", "ksys_write_[k]"),
                            3,
                            30_000_001),
                    new Profile.Stack(
                            "http-#",
                            "http-\u00e4;2",
                            0,
                            "user",
                            List.of("org.example.Orders.run_[j]", "org.example.Orders.run:42_[i]"),
                            1,
                            10_000_000),
                    new Profile.Stack("GC", "GC", 14, "", List.of("[not sampled]"), 0, 5_000_000)),
            List.of("a limitation"));

    private static Map<String, Object> attributes(ProfilesDictionary dictionary, List<Integer> indices) {
        Map<String, Object> attributes = new TreeMap<>();
        for (int index : indices) {
            KeyValueAndUnit attribute = dictionary.getAttributeTable(index);
            AnyValue value = attribute.getValue();
            attributes.put(
                    dictionary.getStringTable(attribute.getKeyStrindex()),
                    value.hasIntValue() ? (Object) value.getIntValue() : value.getStringValue());
        }
        return attributes;
    }

    /** Returns the names of the frames, innermost first, with their types. */
    private static List<String> frames(ProfilesDictionary dictionary, Sample sample) {
        List<String> frames = new ArrayList<>();
        for (int index : dictionary.getStackTable(sample.getStackIndex()).getLocationIndicesList()) {
            Location location = dictionary.getLocationTable(index);
            int function = location.getLines(0).getFunctionIndex();
            String name = dictionary.getStringTable(
                    dictionary.getFunctionTable(function).getNameStrindex());
            if (location.getLines(0).getLine() > 0)
                name += ":" + location.getLines(0).getLine();
            frames.add(name + " " + attributes(dictionary, location.getAttributeIndicesList()));
        }
        return frames;
    }

    @Test
    void shouldBeReadByTheClassesOfOpenTelemetry() throws Exception {
        ExportProfilesServiceRequest request = ExportProfilesServiceRequest.parseFrom(OtlpProfile.of(PROFILE));
        assertThat(request.getUnknownFields().asMap()).isEmpty();
        ProfilesDictionary dictionary = request.getDictionary();
        assertThat(dictionary.getStringTable(0)).isEmpty();
        assertThat(Stream.of(
                        dictionary.getMappingTable(0),
                        dictionary.getLocationTable(0),
                        dictionary.getFunctionTable(0),
                        dictionary.getLinkTable(0),
                        dictionary.getStackTable(0),
                        dictionary.getAttributeTable(0)))
                .as("the first element of each table stands for none")
                .allMatch(element -> element.getSerializedSize() == 0);
        var resource = request.getResourceProfiles(0);
        assertThat(resource.getResource().getAttributesList())
                .extracting(attribute ->
                        attribute.getKey() + "=" + attribute.getValue().getStringValue()
                                + attribute.getValue().getIntValue())
                .containsExactly("service.name=Orders0", "process.pid=4711");
        assertThat(resource.getScopeProfiles(0).getScope().getName()).isEqualTo("org.taskclock");
        var cpu = resource.getScopeProfiles(0).getProfiles(0);
        assertThat(List.of(
                        dictionary.getStringTable(cpu.getSampleType().getTypeStrindex()),
                        dictionary.getStringTable(cpu.getSampleType().getUnitStrindex())))
                .containsExactly("cpu", "nanoseconds");
        Instant start = Instant.parse("2026-11-21T10:00:00.000000007Z");
        assertThat(cpu.getTimeUnixNano()).isEqualTo(start.getEpochSecond() * 1_000_000_000 + 7);
        assertThat(cpu.getDurationNano()).isEqualTo(5_000_000_000L);
        assertThat(cpu.getPeriod()).isEqualTo(10_000_000);
        assertThat(cpu.getSamplesList())
                .extracting(Sample::getValuesList)
                .containsExactly(List.of(30_000_001L), List.of(10_000_000L), List.of(5_000_000L));
        assertThat(resource.getScopeProfiles(0).getProfiles(1).getSamplesList())
                .extracting(Sample::getValuesList)
                .containsExactly(List.of(3L), List.of(1L), List.of(0L));
        assertThat(attributes(dictionary, cpu.getSamples(0).getAttributeIndicesList()))
                .isEqualTo(Map.of(
                        "thread.name",
                        "http-1",
                        "thread.id",
                        12L,
                        "taskclock.pool.name",
                        "http-#",
                        "cpu.mode",
                        "system"));
        assertThat(attributes(dictionary, cpu.getSamples(1).getAttributeIndicesList()))
                .isEqualTo(Map.of("thread.name", "http-\u00e4;2", "taskclock.pool.name", "http-#", "cpu.mode", "user"));
        assertThat(frames(dictionary, cpu.getSamples(0)))
                .containsExactly(
                        "ksys_write {profile.frame.type=kernel}",
                        "write {profile.frame.type=native}",
                        "org.example.Orders.run {profile.frame.type=jvm}");
        assertThat(frames(dictionary, cpu.getSamples(1)))
                .containsExactly(
                        "org.example.Orders.run:42 {profile.frame.type=jvm}",
                        "org.example.Orders.run {profile.frame.type=jvm}");
    }

    /** Runs pprof on the file. */
    private static String pprof(Path go, Path file, String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(go.toString(), "tool", "pprof"));
        command.addAll(List.of(options));
        command.add(file.toString());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }

    @Test
    void shouldBeReadByPprof(@TempDir Path folder) throws Exception {
        Path go = Stream.of((System.getenv("PATH") + ":/usr/local/go/bin").split(":"))
                .map(path -> Path.of(path, "go"))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
        assumeTrue(go != null, "NOT RUN: Go is not installed");
        Path file = folder.resolve("profile.pb.gz");
        Files.write(file, PprofProfile.of(PROFILE));
        assertThat(pprof(go, file, "-raw"))
                .contains(
                        "PeriodType: cpu nanoseconds",
                        "Period: 10000000",
                        "Duration: 5s",
                        "samples/count cpu/nanoseconds[dflt]",
                        "a limitation",
                        "Time: 2026-11-21 10:00:00.000000007 +0000 UTC")
                .containsPattern("3 +30000001: 1 2 3")
                .containsPattern("1 +10000000: 4 3")
                .contains("pool:[http-#]", "thread:[http-1]", "mode:[kernel]", "tid:[12]", "thread:[http-\u00e4;2]")
                .containsPattern("1: 0x0 M=1 ksys_write :0")
                .containsPattern("4: 0x0 M=1 org\\.example\\.Orders\\.run :42");
        assertThat(pprof(go, file, "-top", "-sample_index=cpu", "-tagfocus=mode=kernel"))
                .containsPattern("30ms .* ksys_write")
                .doesNotContain("[not sampled]");
        assertThat(pprof(go, file, "-top"))
                .contains("Total samples = 45ms")
                .containsPattern("5ms .* \\[not sampled\\]");
    }

    @Test
    void shouldWriteUnusualNames() {
        List<String> frames = List.of("", "\ud800", "\u0000", "_[k]", "x".repeat(100_000));
        Profile.Stack stack = new Profile.Stack("\udc00", "", 0, "", frames, Long.MAX_VALUE, Long.MAX_VALUE);
        Profile profile =
                new Profile(1, "", "", Instant.EPOCH, 1, "", 0, 0, Long.MAX_VALUE, 0, List.of(stack), List.of());
        assertThat(PprofProfile.of(profile)).isNotEmpty();
        assertThat(OtlpProfile.of(profile)).isNotEmpty();
    }
}
