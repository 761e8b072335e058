// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.taskclock.history.HistoryException;
import org.taskclock.monitor.usage.Json;
import org.taskclock.testing.LoadJvm;

/** Figures of real JVMs, and what disturbs them. */
@Tag("slow17")
@Execution(ExecutionMode.CONCURRENT)
final class ServerTest {
    /** Percent of one core. */
    private static final double TOLERANCE = 2;

    @TempDir
    Path directory;

    private static double sum(JsonElement column) {
        double sum = 0;
        for (JsonElement value : column.getAsJsonArray()) if (!value.isJsonNull()) sum += value.getAsDouble();
        return sum;
    }

    @Test
    void shouldAgreeWithTheProgramsOwnClock() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy=2", "kernel", "idle=5");
                TestServer server = TestServer.start(directory, new TestServer.Settings())) {
            String id = server.awaitJvm(load.pid()).get("id").getAsString();
            String path = "/api/jvms/" + id;
            try (EventReader live = new EventReader(server.url(path + "/live"))) {
                live.next();
                LoadJvm.Reference start = load.reference();
                double nanos = 0;
                double liveNanos = 0;
                for (int i = 0; i < 6; i++) {
                    JsonObject interval = live.next().data();
                    double length = interval.get("intervalNanos").getAsDouble();
                    nanos += length;
                    liveNanos += length
                            / 100
                            * interval.getAsJsonObject("totals").get("cpu").getAsDouble();
                }
                LoadJvm.Reference end = load.reference();
                double expected = 100.0 * end.cpuSince(start, "(process)") / (end.before() - start.before());
                assertThat(100 * liveNanos / nanos).isCloseTo(expected, within(TOLERANCE + 0.1 * expected));
                // What is exact in the history is compared in ServeCommandTest, with a load that has an end: CPU time
                // of
                // threads that rarely run is added up to ten seconds late, and steps are not those of the reference.
                server.await(() -> {
                    String pools = server.get(path + "/pools").body();
                    String threads = server.get(path + "/threads").body();
                    boolean isComplete = pools.contains("a busy thread with a long name, number #")
                            && pools.contains("kernel-calls")
                            && threads.contains("a busy thread with a long name, number 2");
                    return isComplete ? true : null;
                });
            }
        }
    }

    private static List<Thread> viewThreads(long pid) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("taskclock-live-" + pid))
                .toList();
    }

    @Test
    void shouldWatchAJvmOnceForAllBrowsersAndForSomeSecondsAfterTheLast() throws Exception {
        // Servers of other tests look at JVMs that are busy.
        try (LoadJvm load = LoadJvm.start("idle");
                TestServer server = TestServer.start(directory, new TestServer.Settings())) {
            String id = server.awaitJvm(load.pid()).get("id").getAsString();
            String url = server.url("/api/jvms/" + id + "/live");
            Thread view;
            try (EventReader first = new EventReader(url);
                    EventReader second = new EventReader(url);
                    EventReader third = new EventReader(url)) {
                for (EventReader reader : List.of(first, second, third))
                    assertThat(reader.next().name()).isEqualTo("interval");
                assertThat(viewThreads(load.pid())).hasSize(1);
                view = viewThreads(load.pid()).get(0);
            }
            // The page was reloaded.
            try (EventReader again = new EventReader(url)) {
                assertThat(again.next().name()).isEqualTo("interval");
                assertThat(viewThreads(load.pid())).containsExactly(view);
            }
            long left = System.nanoTime();
            server.await(() -> view.isAlive() ? null : true);
            assertThat(System.nanoTime() - left).isGreaterThan(TimeUnit.SECONDS.toNanos(8));
            assertThat(viewThreads(load.pid())).isEmpty();
            try (EventReader later = new EventReader(url)) {
                assertThat(later.next().name()).isEqualTo("interval");
            }
        }
    }

    @Test
    void shouldReportTheEndOfAJvmThatIsWatched() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy");
                TestServer server = TestServer.start(directory, new TestServer.Settings())) {
            String id = server.awaitJvm(load.pid()).get("id").getAsString();
            try (EventReader live = new EventReader(server.url("/api/jvms/" + id + "/live"))) {
                assertThat(live.next().name()).isEqualTo("interval");
                load.end();
                EventReader.Event event = live.next();
                while (event.name().equals("interval")) event = live.next();
                assertThat(event.name()).isEqualTo("ended");
                assertThat(live.next()).isNull();
            }
            JsonObject ended = server.await(() -> {
                JsonObject jvm = server.jvm(load.pid());
                return jvm.get("ended").isJsonNull() ? null : jvm;
            });
            assertThat(ended.get("id").getAsString()).isEqualTo(id);
            assertThat(server.get("/api/jvms/" + id + "/live").statusCode()).isEqualTo(404);
            server.await(() -> server.json("/api/marks?jvm=" + id).toString().contains("\"end\"") ? true : null);
        }
    }

    @Test
    void shouldFindAYieldStormAndWhenItBegan() throws Exception {
        try (TestServer server = TestServer.start(directory, new TestServer.Settings())) {
            long before = System.currentTimeMillis();
            try (LoadJvm load = LoadJvm.start("yield")) {
                JsonObject finding = server.await(() -> {
                    JsonObject jvm = server.jvm(load.pid());
                    if (jvm == null || jvm.getAsJsonArray("findings").isEmpty()) return null;
                    return jvm.getAsJsonArray("findings").get(0).getAsJsonObject();
                });
                assertThat(finding.get("kind").getAsString()).isEqualTo("yield-storm");
                assertThat(finding.get("text").getAsString()).contains("\"yielder\"");
                assertThat(finding.get("since").getAsLong()).isBetween(before - 1_000, System.currentTimeMillis());
                String id = server.jvm(load.pid()).get("id").getAsString();
                server.await(
                        () -> server.json("/api/marks?jvm=" + id).toString().contains("Thread.yield") ? true : null);
            }
        }
    }

    @Test
    void shouldEscapeNamesOfThreads() throws Exception {
        // The last argument is only text, which the command line of the JVM contains.
        try (LoadJvm load = LoadJvm.start("busy", "-Dapp=<img src=x onerror=alert(1)>")) {
            TestServer.Settings settings = new TestServer.Settings();
            settings.match = "onerror";
            try (TestServer server = TestServer.start(directory, settings)) {
                server.awaitJvm(load.pid());
                assertThat(server.get("/api/jvms").body()).doesNotContain("<", ">");
            }
        }
        byte[] json = Json.bytes(writer -> writer.value("</script><img onerror=\"alert(1)\">\u2028\n"));
        assertThat(new String(json, java.nio.charset.StandardCharsets.UTF_8))
                .doesNotContain("<", ">", "\u2028", "\n")
                .contains("\\u003c");
    }

    @Test
    void shouldGoOnWithoutHistory() throws Exception {
        TestServer.Settings settings = new TestServer.Settings();
        settings.opener = (data, options) -> {
            throw new HistoryException("the disk is full: delete something");
        };
        try (LoadJvm load = LoadJvm.start("busy");
                TestServer server = TestServer.start(directory, settings)) {
            JsonObject jvm = server.awaitJvm(load.pid());
            JsonObject info = server.json("/api/info").getAsJsonObject();
            assertThat(info.getAsJsonObject("history").get("problem").getAsString())
                    .contains("the disk is full");
            String path = "/api/jvms/" + jvm.get("id").getAsString();
            assertThat(server.get(path + "/pools").statusCode()).isEqualTo(503);
            assertThat(server.get(path + "/pools").body()).contains("the disk is full");
            try (EventReader live = new EventReader(server.url(path + "/live"))) {
                assertThat(live.next().name()).isEqualTo("interval");
            }
        }
    }

    /** A clock that can be set. */
    private static final class SettableClock extends Clock {
        private volatile Duration offset = Duration.ZERO;

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
            return Instant.now().plus(offset);
        }
    }

    @Test
    void shouldGoOnIfTheClockIsSetBack() throws Exception {
        SettableClock clock = new SettableClock();
        TestServer.Settings settings = new TestServer.Settings();
        settings.clock = clock;
        try (LoadJvm load = LoadJvm.start("busy");
                TestServer server = TestServer.start(directory, settings)) {
            JsonObject jvm = server.awaitJvm(load.pid());
            clock.offset = Duration.ofHours(-1);
            server.await(() -> server.json("/api/marks?from=0&to=" + 2 * System.currentTimeMillis())
                            .toString()
                            .contains("set back by 3600 s")
                    ? true
                    : null);
            JsonObject later = server.jvm(load.pid());
            assertThat(later.get("id")).isEqualTo(jvm.get("id"));
            assertThat(later.get("cpu").getAsDouble()).isBetween(0.0, 110.0);
            String range = "?from=" + (clock.millis() - 60_000) + "&to=" + (clock.millis() + 1_000);
            server.await(() -> {
                JsonElement pools = server.json("/api/jvms/" + jvm.get("id").getAsString() + "/pools" + range);
                return sum(pools.getAsJsonObject().getAsJsonObject("process").get("user")) > 0 ? true : null;
            });
        }
    }

    @Test
    void shouldShowTwoThousandThreads() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle=2000", "busy");
                TestServer server = TestServer.start(directory, new TestServer.Settings())) {
            JsonObject jvm = server.awaitJvm(load.pid());
            assertThat(jvm.get("threads").getAsInt()).isGreaterThan(2_000);
            String url = server.url("/api/jvms/" + jvm.get("id").getAsString() + "/live");
            try (EventReader live = new EventReader(url)) {
                JsonObject interval = live.next().data();
                assertThat(interval.getAsJsonArray("threads").size()).isGreaterThan(2_000);
            }
        }
    }

    @Test
    void shouldKeepTheIdAndTheHistoryOverARestart() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy")) {
            String id;
            long from = System.currentTimeMillis();
            try (TestServer server = TestServer.start(directory, new TestServer.Settings())) {
                id = server.awaitJvm(load.pid()).get("id").getAsString();
            }
            try (TestServer server = TestServer.start(directory, new TestServer.Settings())) {
                assertThat(server.awaitJvm(load.pid()).get("id").getAsString()).isEqualTo(id);
                String range = "?from=" + from + "&to=" + (System.currentTimeMillis() + 60_000);
                server.await(() -> {
                    JsonObject pools =
                            server.json("/api/jvms/" + id + "/pools" + range).getAsJsonObject();
                    return sum(pools.getAsJsonObject("process").get("user")) > 0 ? true : null;
                });
            }
        }
        try (var files = Files.list(directory)) {
            assertThat(files).isNotEmpty();
        }
    }
}
