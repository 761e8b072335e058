// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import mockwebserver3.MockResponse;
import mockwebserver3.MockWebServer;
import mockwebserver3.RecordedRequest;
import okhttp3.Headers;
import okhttp3.Protocol;
import okio.Buffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pushes over gRPC. */
class OtlpGrpcTest {
    private static final int UNAVAILABLE = 14;

    @TempDir
    Path directory;

    private static MockResponse response(int grpcStatus) {
        // An empty message: not compressed, length 0.
        Buffer empty = new Buffer().write(new byte[5]);
        return new MockResponse.Builder()
                .addHeader("content-type", "application/grpc")
                .body(empty)
                .trailers(Headers.of("grpc-status", Integer.toString(grpcStatus)))
                .build();
    }

    @Test
    void shouldRetryUntilTheReceiverIsAvailable() throws Exception {
        ExporterStatus status = new ExporterStatus("test");
        try (MockWebServer receiver = new MockWebServer()) {
            receiver.setProtocols(List.of(Protocol.H2_PRIOR_KNOWLEDGE));
            receiver.start(InetAddress.getLoopbackAddress(), 0);
            receiver.enqueue(response(UNAVAILABLE));
            receiver.enqueue(response(0));
            Path headers = Files.writeString(directory.resolve("headers"), "x-token=abc");
            ExporterOptions.Push options = new ExporterOptions.Push(
                    "http://127.0.0.1:" + receiver.getPort(), "grpc", headers, Duration.ofHours(1), 10);
            OtlpPusher pusher = new OtlpPusher(options, common -> List.of(), status, OtlpPusherTest.FAST, line -> {});
            pusher.start();
            pusher.close();
            for (int i = 0; i < 2; i++) {
                RecordedRequest request = receiver.takeRequest(10, SECONDS);
                assertThat(request).isNotNull();
                assertThat(request.getTarget())
                        .isEqualTo("/opentelemetry.proto.collector.metrics.v1.MetricsService/Export");
                assertThat(request.getHeaders().get("x-token")).isEqualTo("abc");
            }
        }
        assertThat(status.failed()).isZero();
        assertThat(status.pushed()).isEqualTo(1);
        assertThat(status.dropped()).isZero();
    }
}
