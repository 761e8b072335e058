// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.monitor.finding.Observations.MILLIS;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.JvmCounters;
import org.taskclock.monitor.usage.ThreadUsage;

class SafepointPressureTest {
    /** Garbage collection pauses for 50 ms. */
    @ParameterizedTest
    @CsvSource({
        "30, 200,   5,  0, 'the JVM has stopped all threads for 15 % of the time, not counting garbage collection'",
        " 2, 200,   5,  0, 'the JVM has stopped all threads for 15 % of the time, not counting garbage collection'",
        " 6, 200,   5,  0, ''",
        "30, 140,   5,  0, ''",
        "30,  60, 120,  0, the JVM spends 12 % of the time on bringing all threads to a stop",
        "30,  60, 120, 99, the JVM spends 12 % of the time on bringing all threads to a stop",
        "30,  60, 120, 200, ''",
        "30,  -1,  -1,  0, ''",
    })
    void shouldFindPausesOtherThanGarbageCollection(
            long safepoints, long stopped, long reaching, long waited, String text) {
        ThreadUsage thread = Observations.thread(8, "worker-1", ThreadKind.JAVA, 100, 0, waited, 1);
        JvmCounters counters = new JvmCounters(safepoints, stopped * MILLIS, reaching * MILLIS, 0, -1);
        List<Finding> found = Observations.ofThreads(List.of(thread), 100, 100, counters, new ThreadHistory())
                .findings();
        assertThat(found).extracting(Finding::text).isEqualTo(text.isEmpty() ? List.of() : List.of(text));
        if (!text.isEmpty()) assertThat(found.get(0).evidence()).contains(safepoints + " safepoints per second");
    }
}
