// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.monitor.attach.TargetJvm;
import org.taskclock.testing.LoadJvm;

/** Agents that others load. */
class AgentWatchTest {
    @TempDir
    Path directory;

    @Test
    void shouldNoticeAnAgentThatAnotherToolHasLoaded() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle=2");
                TestServer server = TestServer.start(directory, new TestServer.Settings())) {
            JsonObject jvm = server.awaitJvm(load.pid());
            assertThat(jvm.get("agent").getAsBoolean()).isFalse();
            Thread.sleep(2_000); // so that the first look has been without an agent
            TargetJvm.showAccounts(load.pid());
            long start = System.nanoTime();
            server.await(() -> server.jvm(load.pid()).get("agent").getAsBoolean() ? true : null);
            assertThat(System.nanoTime() - start).as("ns").isLessThan(TimeUnit.SECONDS.toNanos(25));
            long now = System.currentTimeMillis();
            String pools = "/api/jvms/" + jvm.get("id").getAsString() + "/pools?from=" + (now - 60_000) + "&to="
                    + (now + 60_000);
            JsonElement mark = server.await(() -> {
                for (JsonElement each : server.json(pools).getAsJsonObject().getAsJsonArray("marks"))
                    if (each.getAsJsonObject().get("kind").getAsString().equals("attach")) return each;
                return null;
            });
            assertThat(mark.getAsJsonObject().get("text").getAsString()).startsWith("agent attached to ");
        }
    }
}
