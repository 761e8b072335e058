// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class PerfEventsTest {
    /** Returns whether a process with one thread and three open files may be sampled. */
    private static boolean fitsLimits(String limits) throws Exception {
        Process process = new ProcessBuilder("bash", "-c", limits + "; exec sleep 60").start();
        try {
            Path name = Path.of("/proc/" + process.pid() + "/comm");
            while (!Files.readString(name).equals("sleep\n")) Thread.sleep(1);
            assertThat(PerfEvents.areUsedBy(process.pid())).isFalse();
            return PerfEvents.fitsLimitsOf(process.pid());
        } finally {
            process.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        }
    }

    @Test
    @Timeout(60)
    void shouldUseAtMostHalfOfTheLimits() throws Exception {
        assertThat(fitsLimits(":")).isTrue();
        assertThat(fitsLimits("ulimit -n 12")).isTrue();
        assertThat(fitsLimits("ulimit -n 7")).isFalse();
        assertThat(fitsLimits("ulimit -i 0")).as("without queued signals").isFalse();
        assertThat(PerfEvents.fitsLimitsOf(999_999_999)).isFalse();
    }
}
