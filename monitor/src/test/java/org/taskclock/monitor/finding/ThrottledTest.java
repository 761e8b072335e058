// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.taskclock.monitor.finding.Observations.MILLIS;
import static org.taskclock.monitor.finding.Observations.SECOND;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.JvmUsage.ContainerUsage;
import org.taskclock.metrics.VirtualThreadCounts;

class ThrottledTest {
    @ParameterizedTest
    @CsvSource({"2, 51, true", "2, 50, false", "0, 900, false", "2, -1, false"})
    void shouldFindThrottledContainers(double limit, long throttledMillis, boolean isFound) {
        ContainerUsage container = new ContainerUsage(SECOND, throttledMillis * MILLIS, limit);
        Observations.only(
                Observation.ofPools(List.of(), List.of(), SECOND, VirtualThreadCounts.UNKNOWN, container, SECOND, null),
                new Throttled(),
                isFound,
                "");
    }

    /** One container is throttled, one hardly is, and one runs only now and then. */
    @Test
    void shouldRaiseTheAlertForThrottledContainers() throws Exception {
        String series = """
                taskclock_container_cpu_periods_total{jvm="orders-7"} 0+600x80
                taskclock_container_cpu_throttled_periods_total{jvm="orders-7"} 0+60x80
                taskclock_container_cpu_periods_total{jvm="orders-8"} 0+600x80
                taskclock_container_cpu_throttled_periods_total{jvm="orders-8"} 0+12x80
                taskclock_container_cpu_periods_total{jvm="orders-9"} 0+20x80
                taskclock_container_cpu_throttled_periods_total{jvm="orders-9"} 0+10x80""";
        AlertRules.check(new Throttled(), 5, series, "TaskClockThrottled", "");
        AlertRules.check(new Throttled(), 30, series, "TaskClockThrottled", """
                {jvm="orders-7"} orders-7 on host:10077: its container was throttled in 10% of the periods
                {jvm="orders-9"} orders-9 on host:10077: its container was throttled in 50% of the periods""");
    }
}
