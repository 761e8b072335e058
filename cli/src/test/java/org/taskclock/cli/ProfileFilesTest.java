// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files that {@code taskclock profile} writes, and what it sends. */
@Tag("slow")
class ProfileFilesTest {
    private static CliResult profile(HotJvm target, String... options) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("profile", target.pid, "--source", "stacks"));
        arguments.addAll(List.of(options));
        return CliResult.run(arguments.toArray(String[]::new));
    }

    @Test
    void shouldWriteTheFormatOfTheSuffix(@TempDir Path directory) throws Exception {
        try (HotJvm target = new HotJvm()) {
            for (String suffix : List.of("collapsed", "txt", "pb.gz", "pprof", "json")) {
                Path file = directory.resolve("profile." + suffix);
                CliResult result = profile(target, "--for", "500ms", "-o", file.toString());
                assertThat(result.exitCode()).as(result.err()).isEqualTo(Main.OK);
                assertThat(result.err()).startsWith("taskclock: " + file + ": ").hasLineCount(1);
                byte[] content = Files.readAllBytes(file);
                switch (suffix) {
                    case "json" ->
                        assertThat(JsonParser.parseString(new String(content, StandardCharsets.UTF_8))
                                        .getAsJsonObject()
                                        .get("pid")
                                        .getAsString())
                                .isEqualTo(target.pid);
                    case "pb.gz", "pprof" ->
                        assertThat(new String(
                                        new GZIPInputStream(new ByteArrayInputStream(content)).readAllBytes(),
                                        StandardCharsets.UTF_8))
                                .contains("nanoseconds", "worker-1", "Program.work");
                    default ->
                        assertThat(new String(content, StandardCharsets.UTF_8))
                                .containsPattern(
                                        "(?m)^\\[worker-#\\];\\[worker-1 tid=[0-9]+\\];.*Program\\.work_.* [0-9]{4,}$");
                }
            }
        }
    }

    @Test
    void shouldSendTheProfileToAReceiver() throws Exception {
        BlockingQueue<ExportProfilesServiceRequest> received = new LinkedBlockingQueue<>();
        HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/v1development/profiles", exchange -> {
            try (exchange) {
                boolean isAllowed = "secret".equals(exchange.getRequestHeaders().getFirst("X-Token"));
                if (isAllowed)
                    received.add(
                            ExportProfilesServiceRequest.parseFrom(new GZIPInputStream(exchange.getRequestBody())));
                exchange.sendResponseHeaders(isAllowed ? 200 : 401, -1);
            }
        });
        receiver.start();
        String url = "http://127.0.0.1:" + receiver.getAddress().getPort();
        String headers = Files.writeString(Files.createTempFile("headers", null), "X-Token=secret")
                .toString();
        try (HotJvm target = new HotJvm()) {
            JsonObject profile = JsonParser.parseString(
                            profile(target, "--for", "1s", "--json", "--otlp", url, "--otlp-headers-file", headers)
                                    .out())
                    .getAsJsonObject();
            ExportProfilesServiceRequest request = received.poll(10, TimeUnit.SECONDS);
            assertThat(request.getResourceProfiles(0).getScopeProfiles(0).getProfiles(0).getSamplesList().stream()
                            .mapToLong(sample -> sample.getValues(0))
                            .sum())
                    .isEqualTo(profile.get("cpuNanos").getAsLong());
            assertThat(request.getDictionary().getStringTableList()).contains("nanoseconds", "thread.name");
            CliResult refused = profile(target, "--for", "200ms", "--otlp", url);
            assertThat(refused.exitCode()).isEqualTo(Main.FAILED);
            assertThat(refused.err()).isEqualTo("taskclock: --otlp " + url + ": HTTP status 401\n");
            assertThat(refused.out()).contains("source: "); // not lost
            receiver.stop(0);
            assertThat(profile(target, "--for", "200ms", "--otlp", url).err())
                    .isEqualTo("taskclock: --otlp " + url + ": cannot connect\n");
        } finally {
            receiver.stop(0);
        }
    }
}
