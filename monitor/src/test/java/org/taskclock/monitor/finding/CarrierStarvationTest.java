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
import org.taskclock.monitor.usage.ThreadUsage;

class CarrierStarvationTest {
    private static ThreadUsage carrier(int number, char state, long cpuMillis, long waitMillis) {
        return ThreadUsage.of(7, number, "ForkJoinPool-1-worker-" + number, ThreadKind.CARRIER)
                .cpu(cpuMillis * Observations.MILLIS, cpuMillis * Observations.MILLIS)
                .waited(waitMillis * Observations.MILLIS)
                .state(state)
                .build();
    }

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
        Observation observation = Observations.of(List.of(), List.of(carrier(1, 'S', cpuMillis, waitMillis)), agent);
        List<Finding> found = observation.findings().stream()
                .filter(finding -> finding.kind().equals(new CarrierStarvation()))
                .toList();
        assertThat(found).hasSize(reason == null ? 0 : 1);
        if (reason == null) return;
        assertThat(found.get(0).text()).isEqualTo(queued + " virtual threads wait for a carrier");
        assertThat(found.get(0).evidence().get(1)).contains(reason);
    }

    /** The kernel adds the time that a thread waits for a processor when the wait ends. */
    @ParameterizedTest
    @CsvSource({"R, 10, false", "S, 10, true", "R, 600, true"})
    void shouldNotFindCarriersThatWaitForAProcessor(char state, int cpuMillis, boolean isFound) {
        Observation.AgentFigures agent =
                new Observation.AgentFigures(-1, 0, -1, 0, List.of(), new VirtualThreadCounts(100, 2, 9, 2));
        List<ThreadUsage> carriers = List.of(carrier(1, state, cpuMillis, 0), carrier(2, 'S', 10, 0));
        assertThat(Observations.of(List.of(), carriers, agent).findings())
                .extracting(Finding::kind)
                .isEqualTo(isFound ? List.of(new CarrierStarvation()) : List.of());
    }

    /** Returns the time that carriers and virtual threads of a JVM use, and that carriers wait, in each minute. */
    private static String series(String jvm, int cpu, int wait) {
        String pool = "{jvm=\"orders-" + jvm + "\",taskclock_pool_name=\"f-#\",taskclock_pool_kind=\"";
        return "\ntaskclock_thread_cpu_time_seconds_total" + pool + "carrier\",cpu_mode=\"user\"} 0+" + cpu / 3 + "x20"
                + "\ntaskclock_thread_cpu_time_seconds_total" + pool + "virtual\",cpu_mode=\"user\"} 0+" + 2 * cpu / 3
                + "x20\ntaskclock_thread_wait_time_seconds_total" + pool + "carrier\"} 0+" + wait + "x20";
    }

    /**
     * In one JVM, more virtual threads are queued than there are carriers; in the second, less; in the third, the
     * carriers wait for processors.
     */
    @Test
    void shouldRaiseTheAlertIfThreadsWaitForACarrier() throws Exception {
        String series = """
                taskclock_virtual_thread_parallelism{jvm="orders-7"} 4x20
                taskclock_virtual_threads{jvm="orders-7",taskclock_virtual_thread_state="mounted"} 4x20
                taskclock_virtual_threads{jvm="orders-7",taskclock_virtual_thread_state="queued"} 8x20
                taskclock_virtual_threads{jvm="orders-7",taskclock_virtual_thread_state="waiting"} 900x20
                taskclock_virtual_thread_parallelism{jvm="orders-8"} 4x20
                taskclock_virtual_threads{jvm="orders-8",taskclock_virtual_thread_state="queued"} 3x20
                taskclock_virtual_thread_parallelism{jvm="orders-9"} 4x20
                taskclock_virtual_threads{jvm="orders-9",taskclock_virtual_thread_state="queued"} 8x20""" + series("7", 90, 60) + series("9", 30, 60);
        AlertRules.check(new CarrierStarvation(), 4, series, "TaskClockCarrierStarvation", "");
        AlertRules.check(new CarrierStarvation(), 10, series, "TaskClockCarrierStarvation", """
                {jvm="orders-7"} orders-7 on host:10077: 8 virtual threads wait for a carrier""");
    }
}
