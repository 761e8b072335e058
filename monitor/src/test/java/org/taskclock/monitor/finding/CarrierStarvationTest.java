// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;

class CarrierStarvationTest {
    @ParameterizedTest
    @CsvSource({
        "4, 2, 100, 0, pinned",
        "4, 2, 950, 940, more to do",
        "4, 2, 100, 1800, ",
        "2, 2, 1900, 0, more to do",
        "1, 2, 1900, 0, ",
        "-1, 2, 1900, 0, ",
        "9, 0, 1900, 0, "
    })
    void shouldFindThreadsThatWaitForACarrier(int queued, int carriers, int cpuMillis, int waitMillis, String reason) {
        Observation.AgentFigures agent = new Observation.AgentFigures(
                -1, 0, -1, 0, List.of(), new VirtualThreadCounts(100, 2, queued, carriers));
        Observation observation = Observations.of(
                List.of(),
                List.of(Observations.thread(
                        1, "ForkJoinPool-1-worker-1", ThreadKind.CARRIER, cpuMillis, 0, waitMillis, -1)),
                agent);
        List<Finding> found = observation.findings().stream()
                .filter(finding -> finding.kind().equals(new CarrierStarvation()))
                .toList();
        assertThat(found).hasSize(reason == null ? 0 : 1);
        if (reason == null) return;
        assertThat(found.get(0).text()).isEqualTo(queued + " virtual threads wait for a carrier");
        assertThat(found.get(0).evidence().get(1)).contains(reason);
    }

    /** In one JVM, more virtual threads are queued than there are carriers; in the other one, less. */
    @Test
    void shouldRaiseTheAlertIfThreadsWaitForACarrier() throws Exception {
        String series = """
                taskclock_virtual_thread_parallelism{jvm="orders-7"} 4x20
                taskclock_virtual_threads{jvm="orders-7",taskclock_virtual_thread_state="mounted"} 4x20
                taskclock_virtual_threads{jvm="orders-7",taskclock_virtual_thread_state="queued"} 8x20
                taskclock_virtual_threads{jvm="orders-7",taskclock_virtual_thread_state="waiting"} 900x20
                taskclock_virtual_thread_parallelism{jvm="orders-8"} 4x20
                taskclock_virtual_threads{jvm="orders-8",taskclock_virtual_thread_state="queued"} 3x20""";
        AlertRules.check(new CarrierStarvation(), 4, series, "TaskClockCarrierStarvation", "");
        AlertRules.check(new CarrierStarvation(), 10, series, "TaskClockCarrierStarvation", """
                {jvm="orders-7"} orders-7 on host:10077: 8 virtual threads wait for a carrier""");
    }
}
