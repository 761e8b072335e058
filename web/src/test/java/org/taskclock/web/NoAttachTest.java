// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.taskclock.testing.LoadJvm;

/** What a page that shows a JVM, with the columns that need thread dumps, asks that JVM for. */
@Isolated("the servers of other tests attach to all JVMs")
final class NoAttachTest {
    @TempDir
    Path directory;

    private boolean isAttached(boolean attaches) throws Exception {
        TestServer.Settings settings = new TestServer.Settings();
        settings.attaches = attaches;
        settings.opener = (data, options) -> new GeneratedHistory();
        try (LoadJvm load = LoadJvm.start("busy");
                TestServer server = TestServer.start(directory, settings)) {
            String id = server.awaitJvm(load.pid()).get("id").getAsString();
            try (EventReader live = new EventReader(server.url("/api/jvms/" + id + "/live?java=true"))) {
                for (int i = 0; i < 4; i++) assertThat(live.next().name()).isEqualTo("interval");
            }
            // The JVM creates it when somebody attaches for the first time.
            return Files.exists(Path.of(System.getProperty("java.io.tmpdir"), ".java_pid" + load.pid()));
        }
    }

    @Test
    void shouldAskJvmsForNothingIfThatIsSwitchedOff() throws Exception {
        assertThat(isAttached(false)).isFalse();
    }

    @Test
    void shouldAttachByDefault() throws Exception {
        assertThat(isAttached(true)).isTrue();
    }
}
