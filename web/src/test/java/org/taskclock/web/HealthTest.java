// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.history.HistorySample;
import org.taskclock.monitor.fleet.JvmFleet;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.monitor.recording.ThreadSeries;
import org.taskclock.testing.LoadJvm;
import org.taskclock.web.http.EventChannel;
import org.taskclock.web.webhook.Webhooks;

/** Errors neither end a loop nor leave a request without an answer, and the server says that it has a problem. */
final class HealthTest {
    @TempDir
    Path directory;

    private final TestServer.Settings settings = new TestServer.Settings();

    /** Fails as long as there is an error. */
    private static final class FailingHistory extends GeneratedHistory {
        private volatile Error error;

        private void fail() {
            if (error != null) throw error;
        }

        @Override
        public void add(HistorySample sample) {
            fail();
        }

        @Override
        public void add(Mark mark) {
            fail();
        }

        @Override
        public ThreadSeries threads(String jvmId, Instant from, Instant to, int points, int maxThreads) {
            fail();
            return super.threads(jvmId, from, to, points, maxThreads);
        }
    }

    private static void awaitReadiness(TestServer server, int status, String text) throws Exception {
        HttpResponse<String> response = server.await(() -> {
            HttpResponse<String> answer = server.get("/-/ready");
            return answer.statusCode() == status && answer.body().contains(text) ? answer : null;
        });
        assertThat(response.body()).startsWith("TaskClock is ");
    }

    @Test
    void shouldGoOnAfterAnErrorAndSayThatSamplesFail() throws Exception {
        FailingHistory history = new FailingHistory();
        settings.opener = (data, options) -> history;
        try (LoadJvm load = LoadJvm.start("busy");
                TestServer server = TestServer.start(directory, settings)) {
            server.awaitJvm(load.pid());
            awaitReadiness(server, 200, "TaskClock is ready.");
            history.error = new OutOfMemoryError("Java heap space");
            awaitReadiness(server, 503, "the last sample failed: internal error: java.lang.OutOfMemoryError");
            history.error = null;
            awaitReadiness(server, 200, "TaskClock is ready.");
            assertThat(server.log)
                    .filteredOn(line -> line.startsWith("internal error: java.lang.OutOfMemoryError: Java heap space"))
                    .hasSize(1);
        }
    }

    @Test
    void shouldAnswerRequestsThatCauseErrors() throws Exception {
        FailingHistory history = new FailingHistory();
        settings.opener = (data, options) -> history;
        settings.match = "no such program";
        settings.allowsActions = true;
        try (TestServer server = TestServer.start(directory, settings)) {
            awaitReadiness(server, 200, "ready");
            history.error = new OutOfMemoryError("Java heap space");
            assertThat(server.get("/api/jvms/a/threads").statusCode()).isEqualTo(500);
            assertThat(server.post("/api/marks", "{\"text\":\"a\"}").statusCode())
                    .isEqualTo(500);
            history.error = null;
            assertThat(server.get("/api/jvms/a/threads").statusCode()).isEqualTo(200);
            assertThat(server.post("/api/marks", "{\"text\":\"a\"}").statusCode())
                    .isEqualTo(201);
        }
    }

    @Test
    void shouldNotBeReadyIfTheHistoryCannotBeWritten() throws Exception {
        GeneratedHistory history = new GeneratedHistory();
        settings.opener = (data, options) -> history;
        settings.match = "no such program";
        try (TestServer server = TestServer.start(directory, settings)) {
            awaitReadiness(server, 200, "ready");
            history.problem = "no space left on device";
            awaitReadiness(server, 503, "not ready: history: no space left on device");
        }
    }

    @Test
    void shouldNotBeReadyIfTheHistoryCannotBeOpened() throws Exception {
        settings.opener = (data, options) -> {
            throw new OutOfMemoryError("Metaspace");
        };
        settings.match = "no such program";
        try (TestServer server = TestServer.start(directory, settings)) {
            awaitReadiness(server, 503, "java.lang.OutOfMemoryError: Metaspace");
        }
    }

    @Test
    void shouldSayHowOldTheLastSampleIs() throws Exception {
        settings.match = "no such program";
        ServerOptions options = TestServer.options(directory, settings);
        HistoryStore store = new HistoryStore((data, kept) -> null, directory, options.history(), line -> {});
        Overview overview = new Overview(1);
        try (JvmFleet fleet = new JvmFleet(options.exporter().fleet(), line -> {});
                LiveViews views = new LiveViews(false, overview);
                SamplingLoop loop = new SamplingLoop(
                        fleet,
                        new JvmKeys(null),
                        overview,
                        views,
                        new EventChannel(),
                        store,
                        null,
                        null,
                        new Webhooks(List.of(), () -> "", line -> {}),
                        options,
                        line -> {})) {
            assertThat(loop.problem(System.nanoTime())).isEqualTo("JVMs are being read for the first time");
            loop.start();
            while (loop.problem(System.nanoTime()) != null) Thread.onSpinWait();
            assertThat(loop.problem(System.nanoTime() + TimeUnit.SECONDS.toNanos(75)))
                    .matches("the last sample is 7[0-9] s old");
        }
    }
}
