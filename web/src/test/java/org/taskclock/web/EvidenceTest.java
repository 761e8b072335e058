// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
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
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.monitor.finding.DatedFinding;
import org.taskclock.monitor.finding.Evidence;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.YieldStorm;
import org.taskclock.monitor.profile.EvidenceTaker;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.testing.LoadJvm;

class EvidenceTest {
    private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

    @TempDir
    private Path directory;

    private final List<Mark> marks = new ArrayList<>();

    private static final EvidenceTaker.Jvm JVM = new EvidenceTaker.Jvm("1", 999_999_999, "service");

    private EvidenceFiles files() {
        return new EvidenceFiles(directory, Duration.ofDays(1), Clock.systemUTC(), marks::add);
    }

    private static Evidence evidence(String text) {
        return new Evidence("yield-storm", "a yields", START, START, Map.of("why.txt", text));
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
    void shouldDeleteOldFiles() throws Exception {
        Path old = Files.createFile(directory.resolve("1-old.zip"));
        Path recent = Files.createFile(directory.resolve("1-recent.zip"));
        Path other = Files.createFile(directory.resolve("other"));
        Path unfinished = Files.createFile(directory.resolve("1" + EvidenceFiles.PART));
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofDays(2))));
        Files.setLastModifiedTime(recent, FileTime.from(Instant.now().minus(Duration.ofMinutes(2))));
        files().accept(JVM, evidence("because"));
        assertThat(directory).isDirectoryNotContaining(path -> path.equals(old));
        assertThat(unfinished).doesNotExist();
        assertThat(recent).exists();
        assertThat(other).exists();
        Path kept = files().files().get(0);
        assertThat(contents(Files.readAllBytes(kept))).isEqualTo(Map.of("why.txt", "because"));
        assertThat(marks).extracting(Mark::text).containsExactly("evidence of yield-storm: " + kept.getFileName());
    }

    @Test
    void shouldKeepNoFileAboveTheLimit() throws Exception {
        String random = new Random(1)
                .ints(3 << 20, ' ', 127)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        assertThatThrownBy(() -> files().accept(JVM, evidence(random)))
                .isInstanceOf(IOException.class)
                .hasMessageEndingWith(" is larger than 2 MB");
        assertThat(directory).isEmptyDirectory();
        assertThat(marks).isEmpty();
    }

    @Test
    void shouldDeleteTheOldestWhenAllAreTooLarge() throws Exception {
        for (int i = 0; i < 3; i++) {
            Path file = directory.resolve("1-" + i + ".zip");
            try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
                sparse.setLength(EvidenceFiles.MAX_BYTES / 2 - EvidenceFiles.MAX_FILE_BYTES / 2);
            }
            Files.setLastModifiedTime(file, FileTime.from(Instant.now().minusSeconds(60 - i)));
        }
        files().accept(JVM, evidence("because"));
        assertThat(directory.resolve("1-0.zip")).doesNotExist();
        assertThat(directory.resolve("1-1.zip")).exists();
        assertThat(directory.resolve("1-2.zip")).exists();
        assertThat(files().files()).hasSize(3);
    }

    /** Also root cannot create a directory below a file. */
    @Test
    void shouldSayWhyNothingIsKept() throws Exception {
        Path file = Files.createFile(directory.resolve("data"));
        EvidenceFiles files =
                new EvidenceFiles(file.resolve("evidence"), Duration.ofDays(1), Clock.systemUTC(), marks::add);
        BlockingQueue<String> log = new LinkedBlockingQueue<>();
        try (EvidenceTaker taker = new EvidenceTaker(Clock.systemUTC(), files, log::add)) {
            taker.start();
            Finding finding = new Finding(new YieldStorm(), 0, "thread \"a\" is bad", List.of());
            taker.begin(JVM, new DatedFinding(finding, START));
            assertThat(log.poll(60, TimeUnit.SECONDS))
                    .startsWith("no evidence is kept: ")
                    .contains("data");
        }
    }

    @Test
    void shouldKeepADumpAndAProfileOfAThread() throws Exception {
        TestServer.Settings settings = new TestServer.Settings();
        settings.keepsEvidence = true;
        settings.clock = Clock.systemUTC();
        try (LoadJvm load = LoadJvm.start("yield");
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
            assertThat(contents).containsOnlyKeys("threads.txt", "profile.collapsed", "profile.json", "why.txt");
            assertThat(contents.get("threads.txt")).containsPattern("\"yielder\" .* used=[1-9]");
            assertThat(contents.get("profile.collapsed"))
                    .contains("java.lang.Thread.yield")
                    .as("lines of the program")
                    .containsPattern("Load[A-Za-z$]*\\.[a-z][^;]*:[0-9]+_\\[");
            assertThat(contents.get("why.txt")).contains("\"yielder\"").doesNotContain("without");
            assertThat(contents.get("why.txt")).contains(" samples of ");
            String profile = "/api/profiles/" + name;
            assertThat(server.get("/api/profiles").body()).contains(name);
            assertThat(server.get(profile).body()).contains("java.lang.Thread.yield", " samples of ");
            JsonObject shown = server.json(profile).getAsJsonObject();
            assertThat(List.of("time", "threads", "source", "seconds", "cpu", "user", "samples"))
                    .as(shown.toString())
                    .noneMatch(figure -> shown.get(figure).isJsonNull());
            assertThat(shown.get("threads").getAsString()).contains("yielder");
            assertThat(shown.get("cpu").getAsDouble()).isPositive();
            assertThat(shown.get("methods").toString())
                    .as("methods have no lines")
                    .doesNotContainPattern(":[0-9]+\"");
            assertThat(server.get(profile + "/flame").body()).contains("yield");
            assertThat(server.get(profile + "/threads").body()).isEqualTo(contents.get("threads.txt"));
            server.await(() -> server.json("/api/marks").toString().contains("evidence of ") ? true : null);
        }
    }
}
