// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.history.HistoryQueries;
import org.taskclock.history.RowConsumer;
import org.taskclock.monitor.attach.AttachClient;
import org.taskclock.testing.LoadJvm;

/** Continuous profiles of other JVMs, from the sampler to the history and its answers. */
class ContinuousProfilerTest {
    /** Two profiles of up to 90 seconds, on a busy machine. */
    private static final long TIMEOUT_NANOS = TimeUnit.MINUTES.toNanos(6);

    private static final String HOT = "org.taskclock.web.ContinuousProfilerTest$Program.hot";
    private static final String WARM = "org.taskclock.web.ContinuousProfilerTest$Program.warm";
    private static final String OTHER = "org.taskclock.web.ContinuousProfilerTest$Program.other";

    @TempDir
    private Path directory;

    /** A pool that spends three quarters of its time in one method, and another pool. */
    static final class Program {
        static volatile long sink;

        private Program() {}

        public static void main(String[] args) throws Exception {
            start("worker-1", () -> {
                hot();
                warm();
            });
            start("other-1", Program::other);
            System.out.println("done");
            System.in.read(); // until killed
        }

        private static void start(String name, Runnable load) {
            Thread thread = new Thread(
                    () -> {
                        try {
                            while (true) {
                                load.run();
                                Thread.sleep(40);
                            }
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    name);
            thread.setDaemon(true);
            thread.start();
        }

        static void hot() {
            spin(9_000);
        }

        static void warm() {
            spin(3_000);
        }

        static void other() {
            spin(6_000);
        }

        private static void spin(int thousands) {
            long sum = 0;
            for (int i = 0; i < thousands; i++) for (int j = 0; j < 1_000; j++) sum += j ^ sum;
            sink = sum;
        }
    }

    private List<List<Object>> query(String sql) throws Exception {
        List<List<Object>> rows = new ArrayList<>();
        HistoryQueries.of(directory).query(sql, 1_000, Duration.ofSeconds(60), new RowConsumer() {
            @Override
            public void columns(List<String> names) {
                // Those of the SQL.
            }

            @Override
            public void row(List<Object> values) {
                rows.add(values);
            }
        });
        return rows;
    }

    private static TestServer.Settings settings(String match) {
        TestServer.Settings settings = new TestServer.Settings();
        settings.profilePercent = 5;
        settings.match = match;
        return settings;
    }

    @Test
    void shouldRecordWhichMethodsUsedTheTimeOfEachPool() throws Exception {
        try (LoadJvm load = LoadJvm.startProgram(Program.class);
                LoadJvm ending = LoadJvm.startProgram(Program.class);
                LoadJvm hanging = LoadJvm.startProgram(Program.class);
                TestServer server = TestServer.start(directory, settings("ContinuousProfilerTest"))) {
            String id = server.awaitJvm(load.pid()).get("id").getAsString();
            server.awaitJvm(ending.pid());
            server.awaitJvm(hanging.pid());
            server.await(() -> server.get("/-/ready").statusCode() == 200 ? true : null);
            ending.end();
            hanging.signal("STOP");
            String minutes = "SELECT count(DISTINCT time) FROM stack_cpu WHERE pid = " + load.pid();
            long end = System.nanoTime() + TIMEOUT_NANOS;
            while (((Number) query(minutes).get(0).get(0)).longValue() < 2) {
                assertThat(System.nanoTime() - end)
                        .as("two profiles; log: " + server.log)
                        .isNegative();
                Thread.sleep(500);
            }
            hanging.signal("CONT");
            checkHistory(load.pid());
            checkApi(server, "/api/jvms/" + id);
            String hangs = "no profiles of .*: cannot attach to process " + hanging.pid() + ": it is stopped";
            assertThat(server.log.stream().filter(line -> line.startsWith("no profiles")))
                    .as("of what works, or has ended, or twice")
                    .hasSizeLessThanOrEqualTo(1)
                    .allMatch(line -> line.matches(hangs));
        }
    }

    /** The rows of each pool and minute add up to what was measured, and the shares of methods are right. */
    private void checkHistory(long pid) throws Exception {
        for (List<Object> row :
                query("SELECT pool, minute, p.cpu, s.cpu FROM (SELECT pool, time_bucket(INTERVAL 1 MINUTE,"
                        + " time) AS minute, sum(cpu_ns) AS cpu FROM pool_cpu WHERE pid = " + pid
                        + " GROUP BY ALL) p JOIN"
                        + " (SELECT pool, time AS minute, sum(cpu_ns) AS cpu FROM stack_cpu WHERE pid = " + pid
                        + " GROUP BY ALL) s USING (pool, minute)"))
            assertThat(row.get(2)).as("%s", row).isEqualTo(row.get(3));
        Map<String, Double> seconds = new HashMap<>();
        for (List<Object> row : query("SELECT pool || ' ' || method, sum(total_ns) / 1e9 FROM method_cpu WHERE pid = "
                + pid + " GROUP BY ALL")) seconds.put((String) row.get(0), ((Number) row.get(1)).doubleValue());
        double hot = seconds.get("worker-# " + HOT);
        double warm = seconds.get("worker-# " + WARM);
        assertThat(hot / (hot + warm)).isCloseTo(0.75, within(0.08));
        assertThat(seconds).containsKey("other-# " + OTHER).doesNotContainKeys("other-# " + HOT, "worker-# " + OTHER);
    }

    private static void checkApi(TestServer server, String jvm) throws Exception {
        String range = "from=" + (System.currentTimeMillis() - 600_000) + "&to=" + System.currentTimeMillis();
        JsonObject all = server.json(jvm + "/methods?" + range).getAsJsonObject();
        assertThat(all.get("seconds").getAsInt()).isGreaterThanOrEqualTo(120);
        assertThat(names(all)).contains(HOT, WARM, OTHER);
        JsonObject pool =
                server.json(jvm + "/methods?" + range + "&pool=other-%23").getAsJsonObject();
        assertThat(names(pool)).contains(OTHER).doesNotContain(HOT);
        JsonObject change = server.json(jvm + "/methods?" + range + "&" + range.replace("=", "2="))
                .getAsJsonObject();
        for (JsonElement method : change.getAsJsonArray("methods")) {
            JsonObject same = method.getAsJsonObject();
            assertThat(same.get("self2")).isEqualTo(same.get("self"));
        }
        HttpResponse<String> flame = server.get(jvm + "/flame?" + range);
        assertThat(flame.statusCode()).isEqualTo(200);
        assertThat(flame.headers().firstValue("Content-Security-Policy").orElseThrow())
                .contains("sandbox");
        assertThat(flame.body()).contains("hot");
        assertThat(server.get(jvm + "/methods?from=1000&to=2000").statusCode()).isEqualTo(404);
        assertThat(JsonParser.parseString(server.get("/api/info").body())
                        .getAsJsonObject()
                        .get("profiles")
                        .getAsBoolean())
                .isTrue();
    }

    private static List<String> names(JsonObject methods) {
        JsonArray all = methods.getAsJsonArray("methods");
        List<String> names = new ArrayList<>();
        for (JsonElement method : all)
            names.add(method.getAsJsonObject().get("method").getAsString());
        return names;
    }

    @Test
    void shouldStopSamplingWhenTheServerEnds() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy")) {
            String check = "JFR.check";
            try (TestServer server = TestServer.start(directory, settings("LoadProgram"))) {
                server.awaitJvm(load.pid());
                server.await(() -> execute(load, check).contains("taskclock_profile") ? true : null);
            }
            assertThat(execute(load, check)).doesNotContain("taskclock_profile");
        }
    }

    private static String execute(LoadJvm load, String command) throws Exception {
        return AttachClient.of(load.pid()).execute(20_000, "jcmd", command);
    }
}
