// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

class OutputOptionsTest {
    private static final long SECOND = 1_000_000_000;

    private static Interval interval(int pid, long nanos, String thread, long cpu, long voluntary) {
        ThreadUsage usage = ThreadUsage.of(pid, pid, thread, ThreadKind.JAVA)
                .javaId(1)
                .pool(thread)
                .cpu(cpu, cpu)
                .waited(0)
                .switches(voluntary, 0)
                .state('R')
                .total(cpu, cpu)
                .build();
        return new Interval(
                Instant.ofEpochSecond(1_800_000_000),
                nanos,
                pid,
                "Main",
                "proc",
                List.of(usage),
                new ProcessUsage(cpu, cpu, -1, 0, -1, cpu, 4, 1, cpu, null, VirtualThreadCounts.UNKNOWN),
                List.of(),
                List.of());
    }

    /** Otherwise, the JVM with the longest interval would come first. */
    @Test
    void shouldOrderByShareIfIntervalsDiffer() throws Exception {
        List<Interval> intervals = List.of(
                interval(1, 10 * SECOND, "light", SECOND, 20), interval(2, SECOND, "heavy", 9 * SECOND / 10, 10));
        for (ThreadColumn column : List.of(ThreadColumn.CPU, ThreadColumn.USER, ThreadColumn.VOLUNTARY)) {
            String text = new OutputOptions()
                    .format(intervals, List.of(), column, new TopText(false, ThreadColumn.CPU, false));
            assertThat(text.indexOf("heavy")).as(column.name()).isPositive().isLessThan(text.indexOf("light"));
        }
    }
}
