// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.sampling.IntervalSource;

class JvmLoadsTest {
    private static final long SECOND = 1_000_000_000;

    private final JvmLoads loads = new JvmLoads();

    private static JvmProcesses.Jvm jvm(long pid, long cpuNanos) {
        return new JvmProcesses.Jvm(pid, "Main", "user", cpuNanos);
    }

    @Test
    void shouldListTheBusiestJvmFirst() {
        assertThat(loads.update(List.of(jvm(1, 9 * SECOND), jvm(2, SECOND))))
                .extracting(IntervalSource.Jvm::cpuPercent)
                .containsExactly(0.0, 0.0);
        List<IntervalSource.Jvm> found = loads.update(List.of(jvm(1, 9 * SECOND), jvm(2, 2 * SECOND)));
        assertThat(found).extracting(IntervalSource.Jvm::pid).containsExactly(2, 1);
        assertThat(found.get(0).cpuPercent()).isPositive();
        assertThat(found.get(1).cpuPercent()).isZero();
    }

    @Test
    void shouldNotMistakeAJvmForAnEarlierOneWithItsId() {
        loads.update(List.of(jvm(1, 9 * SECOND)));
        assertThat(loads.update(List.of(jvm(1, SECOND))).get(0).cpuPercent()).isZero();
        loads.update(List.of());
        assertThat(loads.update(List.of(jvm(1, 20 * SECOND))).get(0).cpuPercent())
                .isZero();
    }
}
