// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.taskclock.CpuTime;
import org.taskclock.metrics.PoolCounters;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.PoolUsage;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** The conversion of a reading, and what the counters make of it. */
class PoolReadingTest {
    private static ThreadUsage usage(String pool, ThreadKind kind, int threads, long cpu) {
        return ThreadUsage.of(1, 0, pool, kind)
                .pool(pool)
                .threads(threads)
                .cpu(cpu, cpu)
                .build();
    }

    @Test
    void shouldSubtractVirtualThreadsFromCarriersAndAddYieldsToTheirPools() {
        PoolReading reading = new PoolReading(
                List.of(
                        usage("yielder", ThreadKind.JAVA, 1, 5),
                        usage("carrier", ThreadKind.CARRIER, 2, 100),
                        usage("request-#", ThreadKind.VIRTUAL, 7, 80)),
                Map.of(
                        new PoolKey("yielder", ThreadKind.JAVA), 3L,
                        new PoolKey("other", ThreadKind.VIRTUAL), 4L),
                new CpuTime(105, 105, 0));
        PoolCounters counters = new PoolCounters(100);
        counters.add(reading.usages());
        assertThat(counters.pools())
                .containsExactlyInAnyOrder(
                        new PoolUsage("yielder", ThreadKind.JAVA, 1, 5, 0, -1, -1, -1, 3),
                        new PoolUsage("carrier", ThreadKind.CARRIER, 2, 20, 0, -1, -1, -1, -1),
                        new PoolUsage("request-#", ThreadKind.VIRTUAL, 7, 80, 0, -1, -1, -1, -1),
                        new PoolUsage("other", ThreadKind.VIRTUAL, 0, 0, 0, -1, -1, -1, 4));
    }
}
