// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.testing.LoadJvm;

class LiveViewsTest {
    @TempDir
    private Path directory;

    /** Only thread dumps show a lock convoy. The busy thread is why this JVM is looked at. */
    @Test
    void shouldFindWhatOnlyStacksShowWithoutABrowser() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy", "convoy=5");
                TestServer server = TestServer.start(directory, new TestServer.Settings())) {
            JsonObject finding = server.await(() -> {
                JsonObject jvm = server.jvm(load.pid());
                if (jvm == null) return null;
                for (JsonElement each : jvm.getAsJsonArray("findings")) {
                    JsonObject found = each.getAsJsonObject();
                    if (found.get("kind").getAsString().equals("lock-convoy")) return found;
                }
                return null;
            });
            assertThat(finding.get("text").getAsString()).contains("lock-owner");
            server.await(() -> server.json("/api/marks").toString().contains("lock-owner") ? true : null);
        }
    }
}
