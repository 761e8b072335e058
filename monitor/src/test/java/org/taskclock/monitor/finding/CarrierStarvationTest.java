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
        "4, 2, 2, 100, pinned",
        "2, 2, 2, 1900, more to do",
        "1, 2, 2, 1900, ",
        "9, 1, 2, 1900, ",
        "-1, 2, 2, 1900, ",
        "9, 0, 0, 1900, "
    })
    void shouldFindThreadsThatWaitForACarrier(int queued, int mounted, int carriers, int cpuMillis, String reason) {
        Observation.AgentFigures agent = new Observation.AgentFigures(
                -1, 0, -1, 0, List.of(), new VirtualThreadCounts(100, mounted, queued, carriers));
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

    /** In one JVM, twice as many virtual threads are queued as there are carriers; in one, carriers are free. */
    @Test
    void shouldRaiseTheAlertIfThreadsWaitForACarrier() throws Exception {
        String series = """
                jvm_thread_count{pid="7",jvm_thread_pool_name="ForkJoinPool-#-worker-#",jvm_thread_kind="carrier"} 4x20
                jvm_thread_count{pid="7",jvm_thread_pool_name="main",jvm_thread_kind="java"} 1x20
                jvm_thread_virtual_count{pid="7",jvm_thread_virtual_state="mounted"} 4x20
                jvm_thread_virtual_count{pid="7",jvm_thread_virtual_state="queued"} 8x20
                jvm_thread_virtual_count{pid="7",jvm_thread_virtual_state="waiting"} 900x20
                jvm_thread_count{pid="8",jvm_thread_pool_name="ForkJoinPool-#-worker-#",jvm_thread_kind="carrier"} 4x20
                jvm_thread_virtual_count{pid="8",jvm_thread_virtual_state="mounted"} 3x20
                jvm_thread_virtual_count{pid="8",jvm_thread_virtual_state="queued"} 8x20""";
        AlertRules.check(new CarrierStarvation(), 4, series, "TaskClockCarrierStarvation", "");
        AlertRules.check(new CarrierStarvation(), 10, series, "TaskClockCarrierStarvation", """
                {pid="7"} orders (pid 7) on host:9464: 8 virtual threads wait for a carrier""");
    }
}
