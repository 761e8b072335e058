// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.recording.RecordingWriter;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;
import org.taskclock.web.http.RequestBudget;
import org.taskclock.web.http.WebException;
import org.taskclock.web.http.WebServer;

/** Where uploaded recordings are, and how much room they take. */
final class OpenedRecordingsTest {
    @TempDir
    Path directory;

    private byte[] recording;
    private Path opened;

    @BeforeEach
    void record() throws IOException {
        Path file = directory.resolve("recording.gz");
        try (RecordingWriter writer = new RecordingWriter(file, RecordingWriter.Limits.NONE, "test", Map.of())) {
            ThreadUsage thread = ThreadUsage.of(1, 7, "a", ThreadKind.JAVA)
                    .cpu(30, 20)
                    .waited(0)
                    .switches(0, 0)
                    .state('S')
                    .build();
            writer.write(new Interval(
                    Instant.parse("2026-01-01T00:00:01Z"),
                    1_000_000_000,
                    1,
                    "Main",
                    "proc",
                    List.of(thread),
                    new ProcessUsage(30, 20, -1, 0, -1, -1, 1, 0),
                    List.of(),
                    List.of()));
            writer.end("test");
        }
        recording = Files.readAllBytes(file);
        opened = directory.resolve("data/opened");
    }

    private TestServer start(long quota) throws WebException {
        TestServer.Settings settings = new TestServer.Settings();
        settings.match = "no such program";
        settings.opener = (data, options) -> new GeneratedHistory();
        settings.limits = new ServerLimits(RequestBudget.ofHeap(), quota, 1 << 20, WebServer.RECEIVE_MILLIS);
        return TestServer.start(directory.resolve("data"), settings);
    }

    static HttpResponse<String> upload(TestServer server, byte... content) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(server.url("/api/opened")))
                                .headers("X-TaskClock", "1", "Content-Type", "application/octet-stream")
                                .POST(HttpRequest.BodyPublishers.ofByteArray(content))
                                .build(),
                        BodyHandlers.ofString());
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(opened)) {
            return files.toList();
        }
    }

    @Test
    void shouldCloseTheOldestIfAllTogetherAreTooLarge() throws Exception {
        try (TestServer server = start(recording.length * 5L / 2)) {
            for (int i = 0; i < 3; i++)
                assertThat(upload(server, recording).statusCode()).isEqualTo(201);
            assertThat(server.get("/api/opened").body())
                    .contains("\"r2\"", "\"r3\"")
                    .doesNotContain("\"r1\"");
            assertThat(files()).hasSize(2);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(opened)))
                    .isEqualTo("rwx------");
        }
        assertThat(files()).isEmpty();
    }

    @Test
    void shouldRefuseWhatDoesNotFit() throws Exception {
        try (TestServer server = start(recording.length - 1)) {
            HttpResponse<String> refused = upload(server, recording);
            assertThat(refused.statusCode()).isEqualTo(507);
            assertThat(refused.body()).contains("all recordings together may have at most");
            assertThat(files()).isEmpty();
            // What was refused does not count.
            assertThat(upload(server, (byte) 1).statusCode()).isEqualTo(400);
        }
    }

    @Test
    void shouldDeleteWhatAKilledServerHasLeft() throws Exception {
        Files.createDirectories(opened);
        Path left = Files.createFile(opened.resolve("99999999-1.gz"));
        Path used = Files.createFile(opened.resolve("1-1.gz"));
        try (TestServer server = start(1 << 20)) {
            assertThat(upload(server, recording).statusCode()).isEqualTo(201);
            assertThat(left).doesNotExist();
            assertThat(used).exists();
        }
    }

    @Test
    void shouldOpenAProfile() throws Exception {
        try (TestServer server = start(1 << 20)) {
            HttpResponse<String> profile = upload(server, "a;b 3\na;c 1\n".getBytes(StandardCharsets.UTF_8));
            assertThat(profile.statusCode()).isEqualTo(201);
            assertThat(profile.body())
                    .contains("\"source\":\"collapsed stacks\"", "{\"name\":\"b\",\"self\":75.0,\"total\":75.0}");
            assertThat(files()).isEmpty();
            HttpResponse<String> refused = upload(server, "neither nor".getBytes(StandardCharsets.UTF_8));
            assertThat(refused.statusCode()).isEqualTo(400);
            assertThat(refused.body()).contains("it is neither a recording of taskclock record, nor a JFR recording");
            assertThat(upload(server, "FLR\0damaged".getBytes(StandardCharsets.UTF_8))
                            .body())
                    .contains("this file cannot be opened: ");
            assertThat(files()).isEmpty();
            for (int i = 0; i < 21; i++)
                assertThat(upload(server, "a;b 3".getBytes(StandardCharsets.UTF_8))
                                .statusCode())
                        .isEqualTo(201);
            assertThat(server.get("/api/profiles/p2").statusCode()).isEqualTo(404);
            assertThat(server.get("/api/profiles/p22").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void shouldSayThatThereIsNoRoom() throws Exception {
        try (TestServer server = start(1 << 20)) {
            Files.createDirectories(opened.getParent());
            Files.createFile(opened);
            HttpResponse<String> refused = upload(server, recording);
            assertThat(refused.statusCode()).isEqualTo(507);
            assertThat(refused.body()).contains("the recording cannot be stored in " + opened);
        }
    }
}
