// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who may add marks, how many, and how long. */
final class MarksTest {
    private static final String MARK = "{\"text\":\"orders 2.3\"}";

    @TempDir
    Path directory;

    private TestServer start(boolean allowsActions) throws Exception {
        TestServer.Settings settings = new TestServer.Settings();
        settings.match = "no such program";
        settings.allowsActions = allowsActions;
        settings.opener = (data, options) -> new GeneratedHistory();
        // All marks are of the same minute.
        settings.clock = Clock.fixed(Instant.parse("2026-01-01T00:00:00Z"), ZoneOffset.UTC);
        TestServer server = TestServer.start(directory, settings);
        server.await(() -> server.get("/-/ready").statusCode() == 200 ? true : null);
        return server;
    }

    @Test
    void shouldRefuseMarksUnlessActionsAreAllowed() throws Exception {
        try (TestServer server = start(false)) {
            HttpResponse<String> refused = server.post("/api/marks", MARK);
            assertThat(refused.statusCode()).isEqualTo(403);
            assertThat(refused.body()).contains("--allow-actions");
        }
    }

    @Test
    void shouldLimitTheLengthAndTheNumberOfMarks() throws Exception {
        try (TestServer server = start(true)) {
            for (String name : List.of("text", "jvm", "kind")) {
                String tooLong = "{\"text\":\"a\", \"" + name + "\":\"" + "x".repeat(201) + "\"}";
                assertThat(server.post("/api/marks", tooLong).statusCode())
                        .as(name)
                        .isEqualTo(400);
            }
            for (int i = 0; i < 60; i++)
                assertThat(server.post("/api/marks", MARK).statusCode()).isEqualTo(201);
            HttpResponse<String> refused = server.post("/api/marks", MARK);
            assertThat(refused.statusCode()).isEqualTo(429);
            assertThat(refused.headers().firstValue("Retry-After")).isPresent();
        }
    }
}
