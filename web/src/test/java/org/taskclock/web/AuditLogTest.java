// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import at.favre.lib.crypto.bcrypt.BCrypt;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.testing.LoadJvm;
import org.taskclock.web.fleet.PrometheusOptions;
import org.taskclock.web.http.RequestBudget;
import org.taskclock.web.http.WebServer;

/** Which requests the audit log has, what it says about them, and how large it becomes. */
final class AuditLogTest {
    private static final String MARK = "{\"text\":\"deployed\"}";

    @TempDir
    Path directory;

    private final TestServer.Settings settings = new TestServer.Settings();

    /** A clock that moves only when it is told to. */
    private static final class ManualClock extends Clock {
        private volatile Instant now = Instant.parse("2026-01-01T00:00:00Z");

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return now;
        }
    }

    private TestServer start() throws Exception {
        settings.opener = (data, options) -> new GeneratedHistory();
        return TestServer.start(directory, settings);
    }

    private static void awaitReady(TestServer server) throws Exception {
        server.await(() -> server.get("/-/ready").statusCode() == 200 ? true : null);
    }

    private List<JsonObject> lines(String name) throws IOException {
        List<JsonObject> lines = new ArrayList<>();
        Path file = directory.resolve(name);
        if (Files.exists(file))
            for (String line : Files.readAllLines(file))
                lines.add(JsonParser.parseString(line).getAsJsonObject());
        return lines;
    }

    /** Lines are written after the answer has been sent. */
    private JsonObject awaitLine(TestServer server, String file, int count) throws Exception {
        return server.await(() -> lines(file).size() == count ? lines(file).get(count - 1) : null);
    }

    private int omitted() throws IOException {
        return lines("audit-refused.log").stream()
                .filter(line -> line.has("omitted"))
                .mapToInt(line -> line.get("omitted").getAsInt())
                .sum();
    }

    private static long busyThread(long pid) throws IOException {
        try (Stream<Path> threads = Files.list(Path.of("/proc/" + pid + "/task"))) {
            for (Path thread : threads.toList())
                if (Files.readString(thread.resolve("comm")).startsWith("a busy"))
                    return Long.parseLong(thread.getFileName().toString());
        }
        throw new AssertionError("no busy thread");
    }

    private static String basic(String credentials) {
        return "Basic " + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void shouldSayWhoDidWhatToWhichJvm() throws Exception {
        String hash = BCrypt.withDefaults().hashToString(4, "secret".toCharArray());
        settings.webConfig =
                Files.writeString(directory.resolve("web.yml"), "basic_auth_users:\n  alice: " + hash + "\n");
        settings.allowsActions = true;
        String user = basic("alice:secret");
        try (LoadJvm load = LoadJvm.start("busy");
                TestServer server = start()) {
            String[] id = {null};
            server.await(() -> {
                for (var jvm : JsonParser.parseString(
                                server.get("/api/jvms", "Authorization", user).body())
                        .getAsJsonObject()
                        .getAsJsonArray("jvms"))
                    if (jvm.getAsJsonObject().get("pid").getAsLong() == load.pid())
                        id[0] = jvm.getAsJsonObject().get("id").getAsString();
                return id[0];
            });
            long thread = busyThread(load.pid());
            String stack = "/api/jvms/" + id[0] + "/threads/" + thread + "/stack";
            var answer = server.post(stack, "{}", "Authorization", user);
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            JsonObject line = awaitLine(server, "audit.log", 1);
            assertThat(line.get("action").getAsString()).isEqualTo("stack");
            assertThat(line.get("status").getAsInt()).isEqualTo(200);
            assertThat(line.get("jvm").getAsString()).isEqualTo(id[0]);
            assertThat(line.get("pid").getAsLong()).isEqualTo(load.pid());
            assertThat(line.get("service").getAsString()).contains("LoadProgram");
            assertThat(line.get("thread").getAsLong()).isEqualTo(thread);
            assertThat(line.get("user").getAsString()).isEqualTo("alice");
            assertThat(line.get("address").getAsString()).isEqualTo("127.0.0.1");
            assertThat(Instant.parse(line.get("time").getAsString())).isBefore(Instant.now());
            assertThat(line.has("reason")).isFalse();

            assertThat(server.post(stack, "{}", "X-Forwarded-For", "192.0.2.7").statusCode())
                    .isEqualTo(401);
            JsonObject refused = awaitLine(server, "audit-refused.log", 1);
            assertThat(refused.get("status").getAsInt()).isEqualTo(401);
            assertThat(refused.get("reason").getAsString()).contains("a password is needed");
            assertThat(refused.get("forwardedFor").getAsString()).isEqualTo("192.0.2.7");
            assertThat(refused.has("user")).isFalse();
            assertThat(server.post(stack, "{}", "X-Forwarded-For", "7".repeat(300))
                            .statusCode())
                    .isEqualTo(401);
            JsonObject limited = awaitLine(server, "audit-refused.log", 2);
            assertThat(limited.get("forwardedFor").getAsString()).isEqualTo("7".repeat(200));
        }
        for (String name : List.of("audit.log", "audit-refused.log"))
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve(name))))
                    .isEqualTo("rw-------");
    }

    @Test
    void shouldHaveRefusedActionsWithoutLettingThemPushOutOthers() throws Exception {
        ManualClock clock = new ManualClock();
        settings.clock = clock;
        settings.match = "no such program";
        try (TestServer server = start()) {
            awaitReady(server);
            for (int i = 0; i < 50; i++)
                assertThat(server.post("/api/marks", MARK).statusCode()).isEqualTo(403);
            JsonObject refused = awaitLine(server, "audit-refused.log", 30);
            assertThat(refused.get("action").getAsString()).isEqualTo("marks");
            assertThat(refused.get("reason").getAsString()).contains("--allow-actions");
            clock.now = clock.now.plusSeconds(60);
            assertThat(server.post("/api/marks", MARK).statusCode()).isEqualTo(403);
            // The last of the 50 may be written after the clock has been set.
            int omitted =
                    server.await(() -> omitted() + lines("audit-refused.log").size() == 51 ? omitted() : null);
            assertThat(omitted).isBetween(19, 20);
            assertThat(directory.resolve("audit.log")).as("nothing was done").doesNotExist();
        }
    }

    @Test
    void shouldKeepWhatWasDoneWhenManyRequestsAreRefused() throws Exception {
        ManualClock clock = new ManualClock();
        settings.clock = clock;
        settings.match = "no such program";
        settings.allowsActions = true;
        settings.limits = new ServerLimits(RequestBudget.ofHeap(), 1 << 20, 2_000, WebServer.RECEIVE_MILLIS);
        try (TestServer server = start()) {
            awaitReady(server);
            assertThat(server.post("/api/marks", MARK).statusCode()).isEqualTo(201);
            awaitLine(server, "audit.log", 1);
            for (int i = 0; i < 60; i++) {
                if (i == 30) clock.now = clock.now.plusSeconds(60);
                assertThat(server.post("/api/marks", MARK, "Origin", "https://example.com")
                                .statusCode())
                        .isEqualTo(403);
            }
            server.await(() -> Files.exists(directory.resolve("audit-refused.log.1")) ? true : null);
            assertThat(lines("audit.log")).hasSize(1);
            assertThat(lines("audit.log").get(0).get("status").getAsInt()).isEqualTo(201);
        }
    }

    @Test
    void shouldKeepTheFilesSmall() throws Exception {
        settings.match = "no such program";
        settings.allowsActions = true;
        settings.limits = new ServerLimits(RequestBudget.ofHeap(), 1 << 20, 2_000, WebServer.RECEIVE_MILLIS);
        try (TestServer server = start()) {
            awaitReady(server);
            for (int i = 0; i < 55; i++)
                assertThat(server.post("/api/marks", MARK).statusCode()).isEqualTo(201);
            server.await(() -> Files.exists(directory.resolve("audit.log.1")) ? true : null);
        }
        for (String name : List.of("audit.log", "audit.log.1"))
            assertThat(Files.size(directory.resolve(name))).as(name).isBetween(1L, 2_000L);
    }

    @Test
    void shouldWriteToTheServersLogIfTheFileCannotBeWritten() throws Exception {
        settings.match = "no such program";
        settings.allowsActions = true;
        Files.createDirectory(directory.resolve("audit.log"));
        try (TestServer server = start()) {
            awaitReady(server);
            for (int i = 0; i < 2; i++)
                assertThat(server.post("/api/marks", MARK).statusCode()).isEqualTo(201);
            server.await(() -> server.log.stream()
                                    .filter(line -> line.startsWith("audit: {"))
                                    .count()
                            == 2
                    ? true
                    : null);
            assertThat(server.log)
                    .filteredOn(line -> line.startsWith("audit log: cannot be written"))
                    .hasSize(1);
        }
    }

    /** A server of a fleet may use the same directory as a server of its host. */
    @Test
    void shouldSayWhoLoggedInToAFleet() throws Exception {
        settings.tokenFile = Files.writeString(directory.resolve("token"), "0123456789abcdef");
        PrometheusOptions nowhere = new PrometheusOptions("http://127.0.0.1:1", null, "http://{instance}/", null);
        try (FleetServer server = new FleetServer(TestServer.options(directory, settings), nowhere, line -> {})) {
            for (String token : List.of("wrong", "0123456789abcdef"))
                settings.client.send(
                        HttpRequest.newBuilder(URI.create(server.url() + "api/login"))
                                .header("Content-Type", "application/json")
                                .header("X-TaskClock", "1")
                                .POST(HttpRequest.BodyPublishers.ofString("{\"token\":\"" + token + "\"}"))
                                .build(),
                        HttpResponse.BodyHandlers.discarding());
            // Lines are written after the answer has been sent.
            for (long end = System.nanoTime() + 10_000_000_000L; System.nanoTime() < end; Thread.sleep(10))
                if (!lines("fleet/audit.log").isEmpty()
                        && !lines("fleet/audit-refused.log").isEmpty()) break;
        }
        JsonObject line = lines("fleet/audit.log").get(0);
        assertThat(line.get("action").getAsString()).isEqualTo("login");
        assertThat(line.get("status").getAsInt()).isEqualTo(200);
        assertThat(line.get("address").getAsString()).isEqualTo("127.0.0.1");
        assertThat(lines("fleet/audit-refused.log").get(0).get("status").getAsInt())
                .isEqualTo(401);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("fleet"))))
                .isEqualTo("rwx------");
    }
}
