// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

class IntervalSumTest {
    private static final long SECOND = 1_000_000_000;

    private static ThreadUsage thread(int tid, String name, long cpu, long wait, char state) {
        return ThreadUsage.of(4711, tid, name, ThreadKind.JAVA)
                .javaId(tid)
                .pool(name)
                .cpu(cpu, cpu / 2)
                .waited(wait)
                .switches(10, -1)
                .state(state)
                .total(7 * cpu, cpu)
                .build();
    }

    private static Interval interval(long nanos, List<ThreadUsage> threads) {
        long cpu = threads.stream().mapToLong(ThreadUsage::cpuNanos).sum();
        ProcessUsage totals =
                new ProcessUsage(cpu, cpu / 2, -1, 0, -1, 2 * cpu, 4, 1, cpu, null, VirtualThreadCounts.UNKNOWN);
        return new Interval(
                Instant.ofEpochSecond(1_800_000_000),
                nanos,
                4711,
                "Main",
                "proc",
                threads,
                totals,
                List.of(),
                List.of());
    }

    @Test
    void shouldAverageOverAllIntervals() {
        IntervalSum sum = new IntervalSum();
        sum.add(interval(
                SECOND, List.of(thread(1, "steady", SECOND / 2, 0, 'R'), thread(2, "ending", SECOND / 4, -1, 'S'))));
        sum.add(interval(
                3 * SECOND, List.of(thread(1, "steady", SECOND / 2, 8, 'S'), thread(3, "new", SECOND, -1, 'R'))));
        Interval all = sum.interval();
        assertThat(sum.count()).isEqualTo(2);
        assertThat(all.intervalNanos()).isEqualTo(4 * SECOND);
        assertThat(all.threads())
                .extracting(ThreadUsage::name, thread -> all.percent(thread.cpuNanos()), ThreadUsage::waitNanos)
                .containsExactly(tuple("steady", 25.0, 8L), tuple("ending", 6.25, -1L), tuple("new", 25.0, -1L));
        ThreadUsage steady = all.threads().get(0);
        assertThat(steady.voluntary()).isEqualTo(20);
        assertThat(steady.involuntary()).isEqualTo(-1);
        assertThat(steady.state()).isEqualTo('S');
        assertThat(steady.totalNanos()).isEqualTo(7 * SECOND / 2);
        assertThat(all.totals())
                .isEqualTo(new ProcessUsage(
                        9 * SECOND / 4,
                        9 * SECOND / 8,
                        -1,
                        0,
                        -1,
                        9 * SECOND / 2,
                        4,
                        2,
                        9 * SECOND / 4,
                        null,
                        VirtualThreadCounts.UNKNOWN));
    }

    @Test
    void shouldNotKeepEachOfManyEndedThreads() {
        IntervalSum sum = new IntervalSum();
        for (int tid = 1; tid <= 5_000; tid++)
            sum.add(interval(SECOND, List.of(thread(tid, "t" + tid, 1_000, 0, 'S'))));
        Interval all = sum.interval();
        assertThat(all.threads()).hasSizeLessThan(1_100);
        assertThat(all.threads().stream().mapToLong(ThreadUsage::cpuNanos).sum())
                .isEqualTo(5_000_000);
        assertThat(all.threads())
                .filteredOn(thread -> thread.name().equals("(ended threads)"))
                .singleElement()
                .satisfies(thread -> assertThat(thread.threads()).isGreaterThan(3_900));
    }

    @Test
    void shouldAddUpAllocationAndWaiting() {
        IntervalSum sum = new IntervalSum();
        for (long bytes : new long[] {-1, 1_000, 3_000}) {
            JavaStatus status =
                    new JavaStatus(Thread.State.BLOCKED, "", "", true, 2, "owner " + bytes, bytes / 10, 7, bytes);
            sum.add(interval(
                    SECOND,
                    List.of(thread(1, "t", 10, 0, 'S').change().java(status).build())));
        }
        JavaStatus all = sum.interval().threads().get(0).java();
        assertThat(all.allocatedBytes()).isEqualTo(6_000); // unknown in one of three seconds
        assertThat(all.blockedNanos()).isEqualTo(400);
        assertThat(all.waitedNanos()).isEqualTo(21);
        assertThat(all.owner()).isEqualTo("owner 3000");
    }
}
