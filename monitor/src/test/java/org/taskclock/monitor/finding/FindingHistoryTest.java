// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.taskclock.monitor.finding.Observations.SECOND;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class FindingHistoryTest {
    private final FindingHistory history = new FindingHistory();
    private int second;

    private void add(Finding... findings) {
        history.add(List.of(findings), Instant.ofEpochSecond(++second), SECOND);
    }

    private List<String> periods() {
        return history.entries().stream()
                .map(entry -> entry.last().text() + " in " + entry.intervals() + ": "
                        + entry.periods(time -> String.valueOf(time.getEpochSecond())))
                .toList();
    }

    @Test
    void shouldKeepWhatHasEnded() {
        Finding gc = new Finding(new GarbageCollection(), 0, "gc", List.of());
        add(gc);
        for (int percent = 0; percent < 3; percent++)
            add(new Finding(new YieldStorm(), 7, "storm of " + percent, List.of()));
        add();
        add(gc);
        add();
        assertThat(periods()).containsExactly("storm of 2 in 3: 1 to 4", "gc in 2: 0 to 1, 5 to 6");
    }

    @Test
    void shouldDistinguishThreads() {
        add(new Finding(new YieldStorm(), 7, "a", List.of()), new Finding(new YieldStorm(), 8, "b", List.of()));
        assertThat(periods()).containsExactly("a in 1: 0 to 1", "b in 1: 0 to 1");
    }

    @Test
    void shouldCountProblemsFromTheirBeginning() {
        for (int i = 0; i < 10; i++) add();
        Finding storm = new Finding(new YieldStorm(), 7, "a", List.of());
        add(storm, new Finding(new BusyWait(), 8, "b", List.of()));
        assertThat(history.entries())
                .extracting(entry -> entry.last().text(), history::hasLasted)
                .as("a busy wait takes seconds to be found")
                .containsExactly(tuple("a", false), tuple("b", true));
        add(storm);
        add(storm);
        assertThat(history.entries())
                .extracting(entry -> entry.last().text(), history::hasLasted)
                .as("three times; the other one has ended")
                .containsExactly(tuple("a", true), tuple("b", false));
        for (int i = 0; i < 4; i++) add();
        assertThat(history.entries()).noneMatch(history::hasLasted);
    }

    @Test
    void shouldDateFindingsThatTakeTime() {
        Finding churn = new Finding(new ThreadChurn(), 0, "a", List.of()).lasting(5 * SECOND, SECOND);
        for (int i = 0; i < 10; i++) add();
        add(churn);
        add();
        add(churn);
        assertThat(periods())
                .as("a period does not begin before the last one ended")
                .containsExactly("a in 2: 6 to 11, 11 to 13");
    }

    @Test
    void shouldListTheFirstTenPeriods() {
        for (int i = 0; i < 12; i++) {
            add(new Finding(new YieldStorm(), 7, "a", List.of()));
            add();
        }
        assertThat(periods().get(0)).startsWith("a in 12: 0 to 1, 2 to 3, ").endsWith(", 18 to 19 and 2 more");
    }
}
