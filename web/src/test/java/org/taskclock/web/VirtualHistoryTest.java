// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.internal.JdkVersions;
import org.taskclock.testing.LoadJvm;

/** The history has virtual threads by name if the agent is in the JVM, and pools still add up to the process. */
@Tag("slow17")
@EnabledForJreRange(minVersion = JdkVersions.VIRTUAL_THREADS, disabledReason = "older JDKs have no virtual threads")
class VirtualHistoryTest {
    private static final long SECONDS = 12;

    @TempDir
    Path data;

    @Test
    void shouldCountVirtualThreadsOnce() throws Exception {
        TestServer.Settings settings = new TestServer.Settings();
        settings.allowsActions = true;
        try (LoadJvm load = LoadJvm.start("virtual=20");
                TestServer server = TestServer.start(data, settings)) {
            String jvm = "/api/jvms/" + server.awaitJvm(load.pid()).get("id").getAsString();
            assertThat(server.post(jvm + "/attach", "{}").statusCode()).isEqualTo(200);
            long from = server.await(() -> {
                if (isOpeningHistory(server)) return null;
                long now = System.currentTimeMillis();
                JsonObject pools = pools(server, jvm, now - 10_000, now);
                return nanos(pools, "request-#", "virtual") > 0 ? now : null;
            });
            // What /metrics reads meanwhile does not change the history.
            long to = server.await(() -> {
                assertThat(server.get("/metrics").statusCode()).isEqualTo(200);
                long now = System.currentTimeMillis();
                return now >= from + SECONDS * 1_000 ? now : null;
            });
            server.await(() -> {
                JsonObject pools = pools(server, jvm, to - 2_000, to);
                return sum(pools.getAsJsonObject("process")) > 0 ? true : null;
            });
            JsonObject pools = pools(server, jvm, from, to);
            double process = sum(pools.getAsJsonObject("process"));
            double all = 0;
            for (JsonElement pool : pools.getAsJsonArray("pools")) all += sum(pool.getAsJsonObject());
            assertThat(nanos(pools, "request-#", "virtual")).as("%s", pools).isGreaterThan(process / 10);
            assertThat(all).as("%s", pools).isBetween(0.8 * process, 1.15 * process);
        }
    }

    private static boolean isOpeningHistory(TestServer server) throws Exception {
        return server.get("/api/marks").statusCode() == 503;
    }

    private static JsonObject pools(TestServer server, String jvm, long from, long to) throws Exception {
        return server.json(jvm + "/pools?points=1000&from=" + from + "&to=" + to)
                .getAsJsonObject();
    }

    private static double nanos(JsonObject pools, String name, String kind) {
        double sum = 0;
        for (JsonElement element : pools.getAsJsonArray("pools")) {
            JsonObject pool = element.getAsJsonObject();
            if (pool.get("pool").getAsString().equals(name)
                    && pool.get("kind").getAsString().equals(kind)) sum += sum(pool);
        }
        return sum;
    }

    /** Adds up the user and system time of all steps. */
    private static double sum(JsonObject series) {
        double sum = 0;
        for (String column : new String[] {"user", "system"}) {
            JsonArray values = series.getAsJsonArray(column);
            for (JsonElement value : values) if (!value.isJsonNull()) sum += value.getAsDouble();
        }
        return sum;
    }
}
