// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HealthTest {
    @Test
    void shouldReportTheNewerFailure() {
        assertThat(Health.newer("hooks", 7, "watchdog", 6)).isEqualTo("hooks");
        assertThat(Health.newer("hooks", 7, "watchdog", 8)).isEqualTo("watchdog");
        assertThat(Health.newer("hooks", Long.MIN_VALUE, "watchdog", Long.MAX_VALUE))
                .as("nanoTime may overflow")
                .isEqualTo("hooks");
        assertThat(Health.newer(null, 0, "watchdog", -5)).isEqualTo("watchdog");
        assertThat(Health.newer("hooks", -5, null, 0)).isEqualTo("hooks");
        assertThat(Health.newer(null, 0, null, 0)).isNull();
    }
}
