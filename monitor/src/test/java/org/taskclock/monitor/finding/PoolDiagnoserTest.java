// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** Which threads are suspected to keep calling Thread.yield, from their figures alone. */
class PoolDiagnoserTest {
    private static final long SECOND = 1_000_000_000;
    private static final long MILLIS = 1_000_000;

    @ParameterizedTest(name = "{5}: cpu {0} ms, system {1} ms, wait {2} ms, switches {3}")
    @CsvSource({
        "990,  780,   5,   12, yield-storm,  alone on a processor",
        "220,  170, 770,   20, yield-storm,  waits for a processor most of the time",
        "900,  700,  -1,   12, yield-storm,  waiting time is unknown",
        "130,   80, 180,   13, system-heavy, sleeps most of the time",
        "500,  400,   0,   90, system-heavy, sleeps half of the time",
        "990,  980,   5,   12, system-heavy, only system time",
        "900,  700,  50, 2000, system-heavy, blocks often",
        "900,  700,  50,   -1, system-heavy, number of switches is unknown",
    })
    void shouldSuspectOnlyThreadsThatHardlyBlock(
            long cpu, long system, long wait, long switches, String kind, String description) {
        ThreadUsage thread = ThreadUsage.of(7, 8, "worker", ThreadKind.JAVA)
                .javaId(9)
                .cpu(cpu * MILLIS, (cpu - system) * MILLIS)
                .waited(wait < 0 ? wait : wait * MILLIS)
                .switches(switches, 0)
                .state('R')
                .build();
        List<Diagnosis> found = PoolDiagnoser.diagnose(List.of(), List.of(thread), cpu * MILLIS, null, SECOND);
        assertThat(found).as(description).extracting(Diagnosis::kind).containsExactly(kind);
    }

    @ParameterizedTest
    @CsvSource({"false, gc", "true, ''"})
    void shouldNotConcludeFromNamesAlone(boolean isGuessed, String kind) {
        ThreadUsage collectors = ThreadUsage.of(7, 0, "GC Thread##", ThreadKind.GC)
                .truncated(isGuessed)
                .threads(4)
                .cpu(SECOND, SECOND)
                .waited(0)
                .switches(1, 1)
                .build();
        List<Diagnosis> found = PoolDiagnoser.diagnose(List.of(collectors), List.of(), SECOND, null, SECOND);
        assertThat(found).extracting(Diagnosis::kind).isEqualTo(kind.isEmpty() ? List.of() : List.of(kind));
    }
}
