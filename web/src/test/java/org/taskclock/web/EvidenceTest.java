// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.finding.SystemHeavy;
import org.taskclock.monitor.finding.YieldStorm;
import org.taskclock.testing.LoadJvm;

class EvidenceTest {
    private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

    @TempDir
    private Path directory;

    private final List<String> log = new ArrayList<>();

    private Evidence evidence(Duration keep) {
        return new Evidence(directory, keep, Clock.systemUTC(), mark -> {}, log::add);
    }

    private static Finding finding(FindingKind kind, String thread) {
        return new Finding(kind, 0, "thread \"" + thread + "\" is bad", List.of());
    }

    private static Map<String, String> contents(byte[] file) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        try (ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(file))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry())
                contents.put(entry.getName(), new String(((InputStream) zip).readAllBytes(), StandardCharsets.UTF_8));
        }
        return contents;
    }

    @Test
    void shouldLimitHowOftenItIsTaken() {
        Evidence evidence = evidence(Duration.ofDays(1));
        Finding storm = finding(new YieldStorm(), "a");
        assertThat(evidence.mayTake("1", storm, START)).isTrue();
        assertThat(evidence.mayTake("1", finding(new SystemHeavy(), "b"), START.plusSeconds(59)))
                .as("of the same JVM within a minute")
                .isFalse();
        assertThat(evidence.mayTake("2", storm, START.plusSeconds(59))).isTrue();
        assertThat(evidence.mayTake("1", storm, START.plusSeconds(3_599)))
                .as("the same cause within an hour")
                .isFalse();
        assertThat(evidence.mayTake("1", finding(new YieldStorm(), "b"), START.plusSeconds(60)))
                .isTrue();
        assertThat(evidence.mayTake("1", storm, START.plusSeconds(3_600))).isTrue();
        Instant later = START.plusSeconds(10_000);
        for (int i = 0; i < 12; i++)
            assertThat(evidence.mayTake("jvm " + i, storm, later)).isTrue();
        assertThat(evidence.mayTake("another", storm, later.plusSeconds(3_599)))
                .as("a thirteenth within an hour")
                .isFalse();
        assertThat(evidence.mayTake("another", storm, later.plusSeconds(3_600))).isTrue();
    }

    @Test
    void shouldDeleteOldFiles() throws Exception {
        Path old = Files.createFile(directory.resolve("1-old.zip"));
        Path recent = Files.createFile(directory.resolve("1-recent.zip"));
        Path other = Files.createFile(directory.resolve("other"));
        Path unfinished = Files.createFile(directory.resolve("1" + Evidence.PART));
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofDays(2))));
        JvmKey ended = new JvmKey("1", "host", 999_999_999, "service", "Main", null, null, START);
        DatedFinding finding = new DatedFinding(finding(new YieldStorm(), "a"), START);
        String name = evidence(Duration.ofDays(1)).write(ended, finding);
        assertThat(directory).isDirectoryNotContaining(path -> path.equals(old));
        assertThat(unfinished).doesNotExist();
        assertThat(recent).exists();
        assertThat(other).exists();
        assertThat(contents(Files.readAllBytes(directory.resolve(name))))
                .containsOnlyKeys("why.txt")
                .hasEntrySatisfying("why.txt", text -> assertThat(text)
                        .contains(
                                "yield-storm: thread \"a\" is bad",
                                "since 2026-11-21T10:00:00Z",
                                "without threads.txt: there is no process 999999999",
                                "without profile.collapsed: "));
    }

    @Test
    void shouldKeepADumpAndAProfileOfAThread() throws Exception {
        TestServer.Settings settings = new TestServer.Settings();
        settings.keepsEvidence = true;
        settings.clock = Clock.systemUTC();
        try (LoadJvm load = LoadJvm.start("busy", "yield");
                TestServer server = TestServer.start(directory, settings)) {
            String id = server.awaitJvm(load.pid()).get("id").getAsString();
            String name = server.await(() -> {
                for (JsonElement file : server.json("/api/recordings").getAsJsonArray()) {
                    String found = ((JsonObject) file).get("name").getAsString();
                    if (found.startsWith(id + "-")) return found;
                }
                return null;
            });
            byte[] file = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create(server.url("/api/recordings/" + name)))
                                    .build(),
                            BodyHandlers.ofByteArray())
                    .body();
            Path stored = directory.resolve("evidence").resolve(name);
            assertThat(file).isEqualTo(Files.readAllBytes(stored));
            assertThat(Files.getPosixFilePermissions(stored)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
            Map<String, String> contents = contents(file);
            assertThat(contents).containsOnlyKeys("threads.txt", "profile.collapsed", "why.txt");
            assertThat(contents.get("threads.txt")).containsPattern("\"yielder\" .* used=[1-9]");
            assertThat(contents.get("profile.collapsed")).contains("java.lang.Thread.yield");
            assertThat(contents.get("why.txt")).contains("\"yielder\"").doesNotContain("without");
            assertThat(contents.get("why.txt")).contains(" samples of ");
            String profile = "/api/profiles/" + name;
            assertThat(server.get("/api/profiles").body()).contains(name);
            assertThat(server.get(profile).body()).contains("java.lang.Thread.yield", " samples of ");
            assertThat(server.get(profile + "/flame").body()).contains("yield");
            assertThat(server.get(profile + "/threads").body()).isEqualTo(contents.get("threads.txt"));
            server.await(() -> server.json("/api/marks").toString().contains("evidence of ") ? true : null);
        }
    }
}
