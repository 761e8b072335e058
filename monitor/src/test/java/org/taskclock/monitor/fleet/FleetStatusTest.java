// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FleetStatusTest {
    @Test
    void shouldNotBeCurrentWithoutASampleOrIfTheLastOneIsOld() throws Exception {
        FleetStatus status = new FleetStatus();
        assertThat(status.isCurrent(Duration.ofSeconds(1))).as("no sample").isFalse();
        status.addSample(1);
        assertThat(status.isCurrent(Duration.ofSeconds(1))).isTrue();
        assertThat(status.isCurrentAt(System.nanoTime() + TimeUnit.SECONDS.toNanos(11), Duration.ofSeconds(1)))
                .as("11 s later")
                .isFalse();
        assertThat(status.isCurrentAt(System.nanoTime() + TimeUnit.SECONDS.toNanos(11), Duration.ofSeconds(5)))
                .as("11 s later, with an interval of 5 s")
                .isTrue();
    }
}
