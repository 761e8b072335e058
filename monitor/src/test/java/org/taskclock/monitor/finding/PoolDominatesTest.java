// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.taskclock.monitor.finding.Observations.SECOND;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.usage.ThreadUsage;

class PoolDominatesTest {
    @ParameterizedTest
    @CsvSource({"900, 500, true", "900, 400, false", "400, 900, false"})
    void shouldFindThePoolThatDominatesTheHost(long cpu, long wait, boolean isFound) {
        ThreadUsage pool = Observations.thread(0, "worker-1", ThreadKind.JAVA, cpu, 0, wait, 1);
        ThreadUsage other = Observations.thread(0, "main", ThreadKind.JAVA, 10, 0, 0, 1);
        PoolDominates.Host host = PoolDominates.Host.of(List.of(pool, other), SECOND);
        Observation observation =
                Observation.ofPools(List.of(pool), List.of(), SECOND, VirtualThreadCounts.UNKNOWN, null, SECOND, host);
        Observations.only(observation, new PoolDominates(), isFound, "");
    }
}
