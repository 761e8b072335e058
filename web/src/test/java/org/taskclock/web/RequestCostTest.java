// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.recording.RecordingSeries;
import org.taskclock.monitor.recording.ThreadSeries;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;
import org.taskclock.testing.TestJvm;
import org.taskclock.web.http.RequestBudget;
import org.taskclock.web.http.WebServer;

/** Requests for much data, one and several at once. */
@Tag("slow17")
@Execution(ExecutionMode.CONCURRENT)
final class RequestCostTest {
    private static final String LARGE = "/api/jvms/a/threads?limit=500&points=1000";

    @TempDir
    Path directory;

    private static TestServer.Settings settings(GeneratedHistory history) {
        TestServer.Settings settings = new TestServer.Settings();
        settings.match = "no such program";
        settings.opener = (data, options) -> history;
        return settings;
    }

    @Test
    void shouldAnswerLargeRequestsInASmallHeap() throws Exception {
        // As the launcher starts the server.
        List<String> options = List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
        String output = TestJvm.run(options, LargeRequests.class, directory.toString());
        assertThat(output)
                .contains("limit=1000&points=10000: 400", LARGE + ": 200", "pools?points=1000: 200", "ready: 200")
                .doesNotContain("OutOfMemory", "internal error", ": 500", "failed");
    }

    /** Sends each request eight times at once. Argument: a directory for the history. */
    static final class LargeRequests {
        private LargeRequests() {}

        public static void main(String[] args) throws Exception {
            String now = Long.toString(System.currentTimeMillis());
            try (TestServer server = TestServer.start(Path.of(args[0]), settings(new GeneratedHistory()))) {
                server.await(() -> server.get("/-/ready").statusCode() == 200 ? true : null);
                HttpClient client = HttpClient.newHttpClient();
                for (String path : List.of(
                        "/api/jvms/a/threads?limit=1000&points=10000",
                        LARGE,
                        "/api/jvms/a/pools?points=1000",
                        "/api/jvms/a/compare?from1=0&to1=" + now + "&from2=0&to2=" + now)) {
                    HttpRequest request =
                            HttpRequest.newBuilder(URI.create(server.url(path))).build();
                    List<CompletableFuture<HttpResponse<Void>>> answers = new ArrayList<>();
                    for (int i = 0; i < 8; i++) answers.add(client.sendAsync(request, BodyHandlers.discarding()));
                    for (CompletableFuture<HttpResponse<Void>> answer : answers)
                        System.out.println(path + ": "
                                + answer.handle((response, failure) ->
                                                failure == null ? String.valueOf(response.statusCode()) : "failed")
                                        .join());
                }
                System.out.println("ready: " + server.get("/-/ready").statusCode());
                System.out.println(server.log);
            }
        }
    }

    @Test
    void shouldLimitRowsTimesPoints() throws Exception {
        try (TestServer server = TestServer.start(directory, settings(new GeneratedHistory()))) {
            server.await(() -> server.get(LARGE).statusCode() == 200 ? true : null);
            HttpResponse<String> refused = server.get("/api/jvms/a/threads?limit=501&points=1000");
            assertThat(refused.statusCode()).isEqualTo(400);
            assertThat(refused.body()).contains("at most 500000 values (limit times points)");
            assertThat(server.get("/api/jvms/a/pools?points=1001").statusCode()).isEqualTo(400);
            assertThat(server.get("/api/marks?jvm=" + "x".repeat(201)).statusCode())
                    .isEqualTo(400);
        }
    }

    @Test
    void shouldRefuseWhatExceedsTheBudgetOfAllRequests() throws Exception {
        CountDownLatch isReading = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        TestServer.Settings settings = settings(new GeneratedHistory() {
            @Override
            public ThreadSeries threads(String jvmId, Instant from, Instant to, int points, int maxThreads) {
                isReading.countDown();
                try {
                    goOn.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                return super.threads(jvmId, from, to, points, maxThreads);
            }
        });
        settings.limits =
                new ServerLimits(new RequestBudget(48 << 20, 50, 60_000), 1 << 20, 1 << 20, WebServer.RECEIVE_MILLIS);
        try (TestServer server = TestServer.start(directory, settings)) {
            server.await(() -> server.get("/-/ready").statusCode() == 200 ? true : null);
            var first = HttpClient.newHttpClient()
                    .sendAsync(
                            HttpRequest.newBuilder(URI.create(server.url(LARGE)))
                                    .build(),
                            BodyHandlers.ofString());
            isReading.await();
            HttpResponse<String> refused = server.get(LARGE);
            assertThat(refused.statusCode()).isEqualTo(503);
            assertThat(refused.headers().firstValue("Retry-After")).contains("5");
            // A small one fits.
            assertThat(server.get("/api/jvms/a/pools?points=100").statusCode()).isEqualTo(200);
            goOn.countDown();
            assertThat(first.join().statusCode()).isEqualTo(200);
            server.await(() -> server.get(LARGE).statusCode() == 200 ? true : null);
        }
    }

    @Test
    void shouldDisconnectClientsThatReceiveSlowly() throws Exception {
        TestServer.Settings settings = settings(new GeneratedHistory());
        settings.limits =
                new ServerLimits(new RequestBudget(48 << 20, 50, 2_000), 1 << 20, 1 << 20, WebServer.RECEIVE_MILLIS);
        try (TestServer server = TestServer.start(directory, settings);
                Socket slow = new Socket()) {
            server.await(() -> server.get("/-/ready").statusCode() == 200 ? true : null);
            slow.setReceiveBufferSize(4_096);
            slow.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
            slow.setSoTimeout(10_000);
            String request = "GET " + LARGE + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
            slow.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            // It receives some bytes from time to time, so that it is never idle, for longer than it may.
            long received = 0;
            for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(4); System.nanoTime() < end; Thread.sleep(10))
                received += receive(slow, 1_000);
            // What was sent before it was disconnected is still on its way.
            for (int more = receive(slow, 1 << 20); more > 0; more = receive(slow, 1 << 20)) received += more;
            HttpResponse<String> answer = server.get(LARGE);
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(received).isPositive().isLessThan(answer.body().length());
        }
    }

    /** Returns the number of bytes that were received; 0 if the client is disconnected. */
    private static int receive(Socket socket, int maxBytes) {
        try {
            return Math.max(0, socket.getInputStream().read(new byte[maxBytes]));
        } catch (IOException e) {
            return 0;
        }
    }

    /** The columns of all of them would take 3 GB. */
    @Test
    void shouldKeepOnlyTheBusiestThreadsOfARecording() {
        Instant start = Instant.parse("2026-01-01T00:00:00Z");
        List<Interval> intervals = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            List<ThreadUsage> threads = new ArrayList<>();
            for (int j = 1; j <= 1_000; j++) {
                int tid = 1_000 * i + j;
                threads.add(ThreadUsage.of(0, tid, "t" + tid, ThreadKind.JAVA)
                        .pool("p" + tid)
                        .cpu(tid, tid)
                        .waited(0)
                        .state('R')
                        .build());
            }
            intervals.add(new Interval(
                    start.plusSeconds(i + 1),
                    1_000_000_000,
                    0,
                    "",
                    "test",
                    threads,
                    new ProcessUsage(1_000_000, 1_000_000, -1, 0, -1, -1, 1, 0),
                    List.of(),
                    List.of()));
        }
        RecordingSeries series = new RecordingSeries(intervals, start, start.plusSeconds(1_000), 1_000, 2);
        assertThat(series.threads().threads()).extracting(ThreadSeries.Row::tid).containsExactly(100_000, 99_999);
        assertThat(series.pools().pools()).hasSize(RecordingSeries.MAX_POOLS + 1);
    }
}
