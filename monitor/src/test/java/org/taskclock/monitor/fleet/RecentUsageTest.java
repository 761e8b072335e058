// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.taskclock.metrics.JvmUsage.ContainerUsage;

class RecentUsageTest {
    private static final long SECOND = 1_000_000_000;

    private static long throttledNanos(ContainerUsage before, ContainerUsage now) {
        return RecentUsage.difference(before, now, SECOND).throttledNanos();
    }

    /** The kernel adds up the run queues of all processors, here eight. */
    @Test
    void shouldNotBeThrottledLongerThanTheInterval() {
        ContainerUsage before = new ContainerUsage(0, 0, 0.5, 100, 20);
        assertThat(throttledNanos(before, new ContainerUsage(SECOND, 7 * SECOND, 0.5, 110, 30)))
                .isEqualTo(SECOND);
        assertThat(throttledNanos(before, new ContainerUsage(SECOND, 3 * SECOND, 0.5, 110, 24)))
                .isEqualTo(4 * SECOND / 10);
        assertThat(throttledNanos(before, before)).as("it did not run").isZero();
    }

    @Test
    void shouldNotGuessWhatIsUnknown() {
        ContainerUsage unknown = new ContainerUsage(0, SECOND, 0.5);
        ContainerUsage known = new ContainerUsage(0, SECOND, 0.5, 10, 5);
        assertThat(throttledNanos(unknown, known)).isEqualTo(-1);
        assertThat(throttledNanos(known, unknown)).isEqualTo(-1);
        assertThat(throttledNanos(known, new ContainerUsage(0, SECOND, 1, 3, 1)))
                .as("another group has the lowest limit")
                .isEqualTo(-1);
        assertThat(RecentUsage.difference(null, known, SECOND)).isNull();
    }
}
