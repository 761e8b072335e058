// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.testing.LoadJvm;

/** One stream with the overview and several JVMs. */
@Tag("slow17")
class ViewEventsTest {
    @TempDir
    Path data;

    /** Counts the bytes that arrive. */
    private static final class Counting extends FilterInputStream {
        private long bytes;

        Counting(InputStream in) {
            super(in);
        }

        @Override
        public int read() throws IOException {
            bytes++;
            return super.read();
        }

        @Override
        public int read(byte[] buffer, int offset, int length) throws IOException {
            // Never waits for more than has arrived.
            int read = super.read(buffer, offset, Math.min(length, Math.max(1, available())));
            bytes += Math.max(0, read);
            return read;
        }
    }

    /** A compressed stream, and the state of each of its subjects. */
    private static final class Reader {
        private final Counting counted;
        private final BufferedReader in;
        private final Map<String, JsonElement> states = new HashMap<>();
        private String event;
        private String id;
        private JsonObject data;

        Reader(String url) throws Exception {
            HttpResponse<InputStream> response = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create(url))
                                    .header("Accept-Encoding", "gzip")
                                    .build(),
                            BodyHandlers.ofInputStream());
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.headers().firstValue("Content-Encoding")).contains("gzip");
            counted = new Counting(response.body());
            in = new BufferedReader(new InputStreamReader(new GZIPInputStream(counted, 512), StandardCharsets.UTF_8));
        }

        Reader next() throws IOException {
            for (String line; (line = in.readLine()) != null; ) {
                if (line.startsWith("id: ")) id = line.substring("id: ".length());
                if (line.startsWith("event: ")) event = line.substring("event: ".length());
                if (!line.startsWith("data: ")) continue;
                data = JsonParser.parseString(line.substring("data: ".length())).getAsJsonObject();
                states.put(id, event.equals("changes") ? JsonChangesTest.patched(states.get(id), data) : data);
                return this;
            }
            throw new AssertionError("the stream has ended");
        }
    }

    @Test
    void shouldSendStatesAndThenWhatChanged() throws Exception {
        try (LoadJvm load = LoadJvm.start("lightly=2", "idle=40");
                TestServer server = TestServer.start(data, new TestServer.Settings())) {
            String id = server.awaitJvm(load.pid()).get("id").getAsString();
            Reader reader = new Reader(server.url("/api/events?of=jvms&of=" + id + "&of=none"));
            Map<String, Integer> changes = new HashMap<>();
            Map<String, String> first = new HashMap<>();
            while (changes.getOrDefault("jvms", 0) < 3 || changes.getOrDefault(id, 0) < 3) {
                reader.next();
                first.putIfAbsent(reader.id, reader.event);
                if (reader.event.equals("changes")) changes.merge(reader.id, 1, Integer::sum);
            }
            assertThat(first)
                    .containsEntry("jvms", "jvms")
                    .containsEntry(id, "interval")
                    .containsEntry("none", "absent");
            JsonObject interval = reader.states.get(id).getAsJsonObject();
            assertThat(interval.getAsJsonArray("threads").size()).isGreaterThan(40);
            double sum = 0;
            for (JsonElement thread : interval.getAsJsonArray("threads"))
                sum += thread.getAsJsonObject().get("cpu").getAsDouble();
            // The threads of the last state are those of its interval. Each is rounded to two decimals.
            double cpu = interval.getAsJsonObject("totals").get("cpu").getAsDouble();
            assertThat(sum).isBetween(cpu * 0.5 - 5, cpu * 1.5 + 5);
            JsonObject jvm = reader.states
                    .get("jvms")
                    .getAsJsonObject()
                    .getAsJsonArray("jvms")
                    .get(0)
                    .getAsJsonObject();
            assertThat(jvm.getAsJsonArray("sparkline").size()).isEqualTo(60);
            assertThat(jvm.getAsJsonArray("sparkline").get(59)).isEqualTo(jvm.get("cpu"));
            // Idle threads do not change.
            if (reader.id.equals("jvms"))
                while (!reader.next().id.equals(id))
                    assertThat(reader.counted.bytes).isPositive();
            assertThat(reader.data.getAsJsonObject("threads").size()).isLessThan(40);

            load.end();
            while (!reader.event.equals("ended")) reader.next();
            assertThat(reader.id).isEqualTo(id);
            reader.next();
            assertThat(reader.id).isEqualTo("jvms");
            reader.in.close();
        }
    }

    @Test
    void shouldEndWithoutSubjects() throws Exception {
        try (TestServer server = TestServer.start(data, new TestServer.Settings())) {
            assertThat(server.get("/api/events").statusCode()).isEqualTo(400);
            assertThat(server.get("/api/events?of=jvms" + many()).statusCode()).isEqualTo(400);
            HttpResponse<String> absent = server.get("/api/events?of=none&of=a%0Ab");
            assertThat(absent.statusCode()).isEqualTo(200);
            assertThat(absent.body())
                    .contains("id: none\nevent: absent\ndata: {\"error\":\"no such JVM")
                    .contains("id: a?b\n");
        }
    }

    private static String many() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 50; i++) text.append("&of=").append(i);
        return text.toString();
    }
}
