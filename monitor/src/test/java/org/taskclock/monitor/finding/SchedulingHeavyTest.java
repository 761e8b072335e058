// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.monitor.finding.Observations.SECOND;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.usage.ThreadUsage;

class SchedulingHeavyTest {
    /** Without the agent, all CPU time of virtual threads is that of carriers. */
    @ParameterizedTest
    @CsvSource({"500, 250, true", "500, 350, false", "500, 0, false", "150, 70, false"})
    void shouldFindCarriersThatMostlySchedule(long carrier, long virtual, boolean isFound) {
        ThreadUsage carriers = Observations.thread(0, "ForkJoinPool-1-worker-1", ThreadKind.CARRIER, carrier, 0, 0, 1);
        ThreadUsage requests = Observations.thread(0, "request-1", ThreadKind.VIRTUAL, virtual, 0, -1, -1);
        Finding found = Observations.only(
                Observation.ofPools(
                        List.of(carriers, requests),
                        List.of(),
                        SECOND,
                        VirtualThreadCounts.UNKNOWN,
                        null,
                        SECOND,
                        null),
                new SchedulingHeavy(),
                isFound,
                "");
        if (isFound)
            assertThat(found.evidence())
                    .contains("scheduling virtual threads uses 25 % of a core")
                    .noneMatch(line -> line.contains("mounted"));
    }
}
