// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.JvmCounters;
import org.taskclock.monitor.usage.ThreadUsage;

class CpuContentionTest {
    @ParameterizedTest
    @CsvSource({
        " 500,  900, 2000, JAVA, true,  a neighbor uses most of the machine",
        "1900, 3000, 2000, JAVA, false, its own threads use the machine",
        " 500,  900, 1500, JAVA, false, processors are idle",
        " 500,  300, 2000, JAVA, false, it waits little",
        "  20,  900, 2000, JAVA, false, it has nothing to do",
        " 500,  900, 2000, VM,   false, only threads of the JVM wait",
    })
    void shouldFindNeighbors(
            long used, long waited, long machine, ThreadKind kind, boolean isFound, String description) {
        ThreadUsage thread = Observations.thread(8, "worker-1", kind, used, 0, waited, 100);
        Finding found = Observations.only(
                Observations.ofThreads(List.of(thread), used, machine, JvmCounters.UNKNOWN, new ThreadHistory()),
                new CpuContention(),
                isFound,
                description);
        if (!isFound) return;
        assertThat(found.text())
                .isEqualTo(
                        "threads wait 900 ms per second for a processor, while other processes use 75 % of the machine");
        assertThat(found.evidence()).containsExactly("\"worker-1\" waited 90 % of the time for a processor");
    }
}
