// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.sun.net.httpserver.HttpServer;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.testing.LoadJvm;
import org.taskclock.web.webhook.WebhookTarget;

/** A server that sends the finding of a real JVM to a receiver, and stops. */
@Tag("slow17")
final class ServerWebhookTest {
    @TempDir
    private Path data;

    private final BlockingQueue<JsonObject> messages = new LinkedBlockingQueue<>();
    private HttpServer receiver;

    @BeforeEach
    void startReceiver() throws Exception {
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", exchange -> {
            try (exchange) {
                messages.add(
                        JsonParser.parseReader(new InputStreamReader(exchange.getRequestBody(), StandardCharsets.UTF_8))
                                .getAsJsonObject());
                exchange.sendResponseHeaders(200, -1);
            }
        });
        receiver.start();
    }

    @AfterEach
    void stopReceiver() {
        receiver.stop(0);
    }

    @Test
    void shouldEndItsFindingsWhenItStops() throws Exception {
        TestServer.Settings settings = new TestServer.Settings();
        settings.match = "test.jvm=" + data.getFileName();
        String url = "http://127.0.0.1:" + receiver.getAddress().getPort() + "/hook";
        settings.webhooks = List.of(WebhookTarget.parse("--webhook", url));
        settings.opener = (directory, options) -> new GeneratedHistory();
        JsonObject begun;
        try (LoadJvm jvm = LoadJvm.start("-D" + settings.match, "yield")) {
            try (TestServer server = TestServer.start(data, settings)) {
                server.awaitJvm(jvm.pid());
                begun = messages.poll(60, TimeUnit.SECONDS);
                assertThat(begun.get("status").getAsString()).isEqualTo("firing");
                messages.clear();
            }
            assertThat(jvm.isAlive()).isTrue();
        }
        JsonObject last = messages.remove();
        assertThat(messages).as("further messages").isEmpty();
        assertThat(last.get("status").getAsString()).isEqualTo("resolved");
        assertThat(last.get("groupKey")).isEqualTo(begun.get("groupKey"));
        assertThat(last.toString()).contains("unknown: taskclock serve stopped");
    }
}
