// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.taskclock.testing.LoadJvm;

class AttachClientTest {
    private static final long TIMEOUT_MILLIS = 20_000;

    @Test
    void shouldReportThatTheProcessHasEnded() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle")) {
            AttachClient client = AttachClient.of(load.pid());
            assertThat(client.execute(TIMEOUT_MILLIS, "properties")).contains("java.version=");
            load.end();
            assertEnded(client);
            assertEnded(AttachClient.of(load.pid()));
        }
    }

    private static void assertEnded(AttachClient client) {
        assertThatThrownBy(() -> client.execute(TIMEOUT_MILLIS, "properties"))
                .isInstanceOf(IOException.class)
                .hasMessage("it has ended");
    }
}
