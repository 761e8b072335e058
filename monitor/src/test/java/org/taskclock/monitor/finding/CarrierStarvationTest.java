// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;

class CarrierStarvationTest {
    @ParameterizedTest
    @CsvSource({
        "4, 2, 2, 100, pinned",
        "2, 2, 2, 1900, more to do",
        "1, 2, 2, 1900, ",
        "9, 1, 2, 1900, ",
        "-1, 2, 2, 1900, ",
        "9, 0, 0, 1900, "
    })
    void shouldFindThreadsThatWaitForACarrier(int queued, int mounted, int carriers, int cpuMillis, String reason) {
        Observation.AgentFigures agent = new Observation.AgentFigures(
                -1, 0, -1, 0, List.of(), new Observation.Scheduler(queued, mounted, carriers));
        Observation observation = Observations.of(
                List.of(),
                List.of(Observations.thread(1, "ForkJoinPool-1-worker-1", ThreadKind.CARRIER, cpuMillis, 0, -1, -1)),
                agent);
        List<Finding> found = observation.findings().stream()
                .filter(finding -> finding.kind().equals(new CarrierStarvation()))
                .toList();
        assertThat(found).hasSize(reason == null ? 0 : 1);
        if (reason == null) return;
        assertThat(found.get(0).text()).isEqualTo(queued + " virtual threads wait for a carrier");
        assertThat(found.get(0).evidence().get(1)).contains(reason);
    }
}
