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
        ThreadUsage thread = new ThreadUsage(
                7,
                8,
                9,
                "worker",
                false,
                ThreadKind.JAVA,
                "worker",
                1,
                cpu * MILLIS,
                (cpu - system) * MILLIS,
                wait < 0 ? wait : wait * MILLIS,
                switches,
                0,
                'R');
        List<Finding> found = PoolDiagnoser.diagnose(List.of(), List.of(thread), cpu * MILLIS, null, SECOND);
        assertThat(found).as(description).extracting(Finding::kind).containsExactly(kind);
    }

    @ParameterizedTest
    @CsvSource({"false, gc", "true, ''"})
    void shouldNotConcludeFromNamesAlone(boolean isGuessed, String kind) {
        ThreadUsage collectors = new ThreadUsage(
                7, 0, 0, "GC Thread##", isGuessed, ThreadKind.GC, "GC Thread##", 4, SECOND, SECOND, 0, 1, 1, '-');
        List<Finding> found = PoolDiagnoser.diagnose(List.of(collectors), List.of(), SECOND, null, SECOND);
        assertThat(found).extracting(Finding::kind).isEqualTo(kind.isEmpty() ? List.of() : List.of(kind));
    }
}
