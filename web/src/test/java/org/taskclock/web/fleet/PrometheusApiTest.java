// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.taskclock.web.http.ClientConfig;
import org.taskclock.web.http.WebException;

class PrometheusApiTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private static PrometheusApi api(String url, Duration timeout) throws WebException {
        return new PrometheusApi(url, ClientConfig.NONE, timeout);
    }

    @Test
    void shouldKeepAnswersButNoFailures() throws Exception {
        try (FakePrometheus prometheus = new FakePrometheus();
                PrometheusApi api = api(prometheus.url(), LONG)) {
            prometheus.reply = new FakePrometheus.Reply(502, "", Map.of());
            assertThatThrownBy(() -> PrometheusApi.await(api.at(Instant.EPOCH, "up")))
                    .hasMessageContaining("status 502");
            assertThat(api.problem()).contains("status 502");
            prometheus.reply = null;
            for (int i = 0; i < 3; i++) PrometheusApi.await(api.at(Instant.EPOCH, "up"));
            assertThat(api.problem()).isNull();
            assertThat(prometheus.queries).as("failed, and answered").containsExactly("up", "up");
            PrometheusApi.await(api.at(Instant.ofEpochSecond(15), "up"));
            PrometheusApi.await(api.range(Instant.EPOCH, Instant.EPOCH, PrometheusApi.FRESH, "up"));
            assertThat(prometheus.queries).as("another time, a range").hasSize(4);
        }
    }

    @Test
    void shouldKeepFewAnswers() throws Exception {
        try (FakePrometheus prometheus = new FakePrometheus();
                PrometheusApi api = api(prometheus.url(), LONG)) {
            for (int i = 0; i <= 64; i++) PrometheusApi.await(api.at(Instant.EPOCH, "up" + i));
            PrometheusApi.await(api.at(Instant.EPOCH, "up64"));
            PrometheusApi.await(api.at(Instant.EPOCH, "up1"));
            assertThat(prometheus.queries).hasSize(65);
            PrometheusApi.await(api.at(Instant.EPOCH, "up0"));
            assertThat(prometheus.queries).as("the oldest was forgotten").hasSize(66);
        }
    }

    @Test
    void shouldNotReadAnAnswerWithoutEnd() throws Exception {
        try (FakePrometheus prometheus = new FakePrometheus();
                PrometheusApi api = api(prometheus.url(), LONG)) {
            String spaces = " ".repeat(65 << 20);
            prometheus.reply = new FakePrometheus.Reply(200, "{\"status\":\"success\"," + spaces, Map.of());
            assertThatThrownBy(() -> PrometheusApi.await(api.at(Instant.EPOCH, "up")))
                    .hasMessageEndingWith("does not answer as Prometheus does: too large");
        }
    }

    /** An answer that begins and stops. Its connection would otherwise stay open, with a thread that reads it. */
    @Test
    @Timeout(60)
    void shouldEndTheConnectionOfAnAnswerThatDoesNotArrive() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                PrometheusApi api = api("http://127.0.0.1:" + server.getLocalPort(), Duration.ofSeconds(2))) {
            CompletableFuture<Answer> answer = api.at(Instant.EPOCH, "up");
            try (Socket socket = server.accept()) {
                socket.getOutputStream().write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{".getBytes(US_ASCII));
                assertThatThrownBy(() -> PrometheusApi.await(answer)).hasMessageContaining("no answer within 2 s");
                socket.setSoTimeout(20_000);
                try {
                    socket.getInputStream().readAllBytes();
                } catch (SocketTimeoutException e) {
                    throw new AssertionError("still connected", e);
                } catch (SocketException e) {
                    // reset
                }
            }
        }
    }

    @Test
    void shouldShortenTheErrorsOfOthers() throws Exception {
        try (FakePrometheus prometheus = new FakePrometheus();
                PrometheusApi api = api(prometheus.url(), LONG)) {
            String error = "{\"status\":\"error\",\"error\":\"" + "x".repeat(300) + "\\nsecond line\"}";
            prometheus.reply = new FakePrometheus.Reply(400, error, Map.of());
            assertThatThrownBy(() -> PrometheusApi.await(api.at(Instant.EPOCH, "up")))
                    .hasMessageEndingWith(": refuses the query: " + "x".repeat(200) + "...");
        }
    }

    @Test
    @Timeout(60)
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "before JDK 21, an HttpClient cannot be closed")
    void shouldEndRequestsWhenItIsClosed() throws Exception {
        try (FakePrometheus prometheus = new FakePrometheus()) {
            prometheus.delayMillis = 300_000;
            PrometheusApi api = new PrometheusApi(prometheus.url(), ClientConfig.NONE, Duration.ofMinutes(10));
            CompletableFuture<Answer> answer = api.at(Instant.EPOCH, "up");
            while (prometheus.queries.isEmpty()) Thread.sleep(10);
            api.close();
            assertThatThrownBy(() -> answer.get(30, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
        }
    }
}
