// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a page that shows a JVM, with the columns that need thread dumps, asks that JVM for. */
final class NoAttachTest {
    /** Not a {@code LoadProgram}, because the servers of other tests attach to those. */
    static final class Program {
        private Program() {}

        public static void main(String[] args) throws IOException {
            System.out.println("ready");
            while (System.in.available() == 0) Thread.onSpinWait();
        }
    }

    @TempDir
    Path directory;

    private boolean isAttached(boolean attaches) throws Exception {
        TestServer.Settings settings = new TestServer.Settings();
        settings.attaches = attaches;
        settings.match = Program.class.getName();
        settings.opener = (data, options) -> new GeneratedHistory();
        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Program.class.getName())
                .start();
        try (TestServer server = TestServer.start(directory, settings)) {
            assertThat(program.inputReader().readLine()).isEqualTo("ready");
            String id = server.awaitJvm(program.pid()).get("id").getAsString();
            try (EventReader live = new EventReader(server.url("/api/jvms/" + id + "/live?java=true"))) {
                for (int i = 0; i < 4; i++) assertThat(live.next().name()).isEqualTo("interval");
            }
            // The JVM creates it when somebody attaches for the first time.
            return Files.exists(Path.of(System.getProperty("java.io.tmpdir"), ".java_pid" + program.pid()));
        } finally {
            program.destroyForcibly().waitFor();
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
