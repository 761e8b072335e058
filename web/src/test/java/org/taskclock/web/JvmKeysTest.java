// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.fleet.JvmDiscovery;

final class JvmKeysTest {
    private final JvmKeys keys = new JvmKeys(null);

    private static JvmKey key(String id, String host, long pid) {
        return new JvmKey(id, host, pid, null, "orders", null, null, Instant.EPOCH);
    }

    @Test
    void shouldRecognizeTheRunningProcessOnly() throws Exception {
        Process process = new ProcessBuilder("sleep", "60").start();
        JvmDiscovery.JvmId id = JvmDiscovery.idOf(process.pid());
        JvmKey running = key(keys.id(id), keys.host(), id.pid());
        try {
            assertThat(keys.isRunning(running)).isTrue();
            assertThat(keys.isRunning(key(running.id(), "elsewhere", id.pid())))
                    .as("on another host")
                    .isFalse();
            String earlier = keys.id(new JvmDiscovery.JvmId(id.pid(), id.startTicks() - 1));
            assertThat(keys.isRunning(key(earlier, keys.host(), id.pid())))
                    .as("an earlier process with the same id")
                    .isFalse();
            assertThat(keys.isRunning(key(running.id() + "0", keys.host(), id.pid())))
                    .as("before the last boot")
                    .isFalse();
        } finally {
            process.destroyForcibly().waitFor();
        }
        assertThat(keys.isRunning(running)).as("after its end").isFalse();
    }
}
