// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.SectionUsage;
import org.taskclock.monitor.usage.ThreadUsage;

class ThreadColumnTest {
    private static final long MILLISECOND = 1_000_000;

    private static final ThreadUsage BLOCKED = ThreadUsage.of(7, 8, "pool-1-thread-2", ThreadKind.JAVA)
            .javaId(9)
            .cpu(300 * MILLISECOND, 100 * MILLISECOND)
            .waited(50 * MILLISECOND)
            .switches(10, 20)
            .state('S')
            .total(7_000 * MILLISECOND, 6_000 * MILLISECOND)
            .java(new JavaStatus(
                    Thread.State.TIMED_WAITING,
                    "java.util.concurrent.locks.ReentrantLock$NonfairSync",
                    "0x1",
                    true,
                    0,
                    "",
                    400 * MILLISECOND,
                    0,
                    4096))
            .build();

    private static final ThreadUsage UNKNOWN =
            ThreadUsage.of(7, 0, "others", ThreadKind.VIRTUAL).build();

    private static Interval interval(double containerCores) {
        return new Interval(
                Instant.EPOCH,
                2_000 * MILLISECOND,
                7,
                "Main",
                "proc",
                List.of(BLOCKED, UNKNOWN),
                new ProcessUsage(0, 0, -1, containerCores, -1, -1, 1, 0),
                List.of(),
                List.of());
    }

    private static List<String> shown(ThreadUsage thread) {
        List<String> shown = new ArrayList<>();
        for (ThreadColumn column : ThreadColumn.values())
            shown.add(column.id + " " + (column.hasText() ? column.text(thread) : column.value(thread, interval(0.5))));
        return shown;
    }

    @Test
    void shouldShowEachValueInItsUnit() {
        assertThat(shown(BLOCKED))
                .containsExactly(
                        "pid 7.0",
                        "tid 8.0",
                        "state S",
                        "cpu 15.0",
                        "user 5.0",
                        "system 10.0",
                        "limit 30.0",
                        "wait 2.5",
                        "voluntary 5.0",
                        "involuntary 10.0",
                        "allocation 2048.0",
                        "sections -1.0",
                        "p50 -1.0",
                        "p99 -1.0",
                        "time 7.0",
                        "watched 6.0",
                        "bar NaN",
                        "recent NaN",
                        "rise NaN",
                        "jstate TIMED",
                        "blocked 20.0",
                        "blocked-by (ReentrantLock)",
                        "kind java",
                        "java 9.0",
                        "pool pool-#-thread-#",
                        "name pool-1-thread-2");
    }

    @Test
    void shouldTellUnknownValuesFromZero() {
        assertThat(shown(UNKNOWN))
                .contains("tid 0.0", "state -", "cpu -1.0", "limit -1.0", "voluntary -1.0", "allocation -1.0")
                .contains("time -1.0", "jstate -", "blocked -1.0", "blocked-by -", "java 0.0");
        ThreadUsage account =
                UNKNOWN.change().sections(new SectionUsage(500, 350_000, -1)).build();
        assertThat(shown(account)).contains("sections 250.0", "p50 3.5E-4", "p99 -1.0");
        assertThat(ThreadColumn.LIMIT.value(BLOCKED, interval(0))).isEqualTo(-1);
    }

    @Test
    void shouldGiveTheMembersOfJson() {
        Map<String, Object> members = new LinkedHashMap<>();
        for (ThreadColumn column : ThreadColumn.values())
            for (ThreadColumn.Member member : column.members())
                members.put(member.name(), member.value().of(BLOCKED, interval(0)));
        assertThat(members)
                .hasSize(26)
                .containsEntry("tid", 8L)
                .containsEntry("state", "S")
                .containsEntry("cpuPercent", 15.0)
                .containsEntry("cpuNanos", 300 * MILLISECOND)
                .containsEntry("voluntary", 10L)
                .containsEntry("allocatedBytes", 4096L)
                .containsEntry("totalNanos", 7_000 * MILLISECOND)
                .containsEntry("javaState", "TIMED_WAITING")
                .containsEntry("blockedNanosEstimate", 400 * MILLISECOND)
                .containsEntry("blockedBy", null);
        for (ThreadColumn column : List.of(ThreadColumn.TID, ThreadColumn.CPU, ThreadColumn.STATE))
            for (ThreadColumn.Member member : column.members())
                assertThat(member.value().of(UNKNOWN, interval(0)))
                        .as(member.name())
                        .isNull();
    }
}
