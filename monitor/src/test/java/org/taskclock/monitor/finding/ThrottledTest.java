// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.monitor.finding.Observations.MILLIS;
import static org.taskclock.monitor.finding.Observations.SECOND;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.JvmUsage.ContainerUsage;

class ThrottledTest {
    @ParameterizedTest
    @CsvSource({"2, 51, true", "2, 50, false", "0, 900, false", "2, -1, false"})
    void shouldFindThrottledContainers(double limit, long throttledMillis, boolean isFound) {
        ContainerUsage container = new ContainerUsage(SECOND, throttledMillis * MILLIS, limit);
        List<Finding> found = Observation.ofPools(List.of(), List.of(), SECOND, container, SECOND, null)
                .findings();
        assertThat(found).extracting(Finding::kind).isEqualTo(isFound ? List.of(new Throttled()) : List.of());
    }
}
