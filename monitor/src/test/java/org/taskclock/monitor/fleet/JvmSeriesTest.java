// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.CpuTime;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.metrics.Metric;
import org.taskclock.metrics.PoolUsage;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;

class JvmSeriesTest {
    private static final long HOURS = 1L << 44;

    @Test
    void shouldRejectImpossibleValues() {
        CpuTime process = new CpuTime(1_000, 1_000, 0);
        PoolUsage possible = new PoolUsage("a", ThreadKind.JAVA, 1, 1_000, 0, -1, -1, -1, -1);
        JvmUsage usage = new JvmUsage(List.of(possible), process, VirtualThreadCounts.UNKNOWN, List.of(), null);
        assertThat(JvmSeries.of(usage).get(Metric.THREAD_COUNT))
                .containsExactly(new Metric.Point(List.of("a", "java"), 1));
        PoolUsage negative = new PoolUsage("b", ThreadKind.VIRTUAL, -1, 0, 0, -1, -1, -1, -1);
        PoolUsage tooMuch = new PoolUsage("b", ThreadKind.VIRTUAL, 1, HOURS, 0, -1, -1, -1, -1);
        PoolUsage overflown = new PoolUsage("b", ThreadKind.VIRTUAL, 1, Long.MIN_VALUE, 0, -1, -1, -1, -1);
        PoolUsage endless = new PoolUsage("b", ThreadKind.VIRTUAL, 1, 0, 0, -1, -1, -1, Long.MAX_VALUE);
        for (PoolUsage bad : List.of(negative, tooMuch, overflown, endless, possible))
            assertThatThrownBy(() -> JvmSeries.of(new JvmUsage(
                            List.of(possible, bad), process, VirtualThreadCounts.UNKNOWN, List.of(), null)))
                    .as("%s", bad)
                    .isInstanceOf(IllegalStateException.class);
    }
}
