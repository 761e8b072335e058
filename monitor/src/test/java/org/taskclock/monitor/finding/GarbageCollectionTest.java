// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.monitor.finding.Observations.SECOND;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.JvmCounters;
import org.taskclock.monitor.usage.ThreadUsage;

class GarbageCollectionTest {
    private static Observation collectors(boolean isGuessed, boolean hasCollected) {
        ThreadUsage pool = ThreadUsage.of(7, 0, "GC Thread##", ThreadKind.GC)
                .truncated(isGuessed)
                .threads(4)
                .cpu(SECOND, SECOND)
                .waited(0)
                .switches(1, 1)
                .build();
        return Observations.of(List.of(), List.of(pool), 2 * SECOND, hasCollected, 0, Observations.NO_AGENT, null);
    }

    @ParameterizedTest
    @CsvSource({"false, false, true", "true, false, false", "true, true, true"})
    void shouldNotConcludeFromNamesAlone(boolean isGuessed, boolean hasCollected, boolean isFound) {
        Observations.only(collectors(isGuessed, hasCollected), new GarbageCollection(), isFound, "");
    }

    @Test
    void shouldCountTheThreadsOfPools() {
        Finding found = collectors(false, false).findings().get(0);
        assertThat(found.text()).isEqualTo("garbage collection uses 50 % of the JVM's CPU time");
        assertThat(found.evidence()).containsExactly("100 % of a core, in 4 threads");
    }

    @Test
    void shouldStateWhatTheJvmItselfHasCounted() {
        ThreadUsage collector = ThreadUsage.of(7, 8, "GC Thread#0", ThreadKind.GC)
                .cpu(SECOND, SECOND)
                .waited(0)
                .switches(1, 1)
                .build();
        JvmCounters counters = new JvmCounters(-1, -1, -1, -1, SECOND * 9 / 10);
        Finding found = Observations.ofThreads(List.of(collector), 1_000, 1_000, counters, new ThreadHistory())
                .findings()
                .get(0);
        assertThat(found.evidence())
                .contains("the JVM itself has counted 90 % of a core, after each phase of a collection");
    }
}
