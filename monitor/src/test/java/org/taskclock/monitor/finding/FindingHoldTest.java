// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.monitor.finding.Observations.SECOND;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class FindingHoldTest {
    private final FindingHold hold = new FindingHold();
    private int second;

    private List<Finding> add(FindingKind... kinds) {
        List<Finding> found = List.of(kinds).stream()
                .map(kind -> new Finding(kind, 0, "text", List.of("evidence")))
                .toList();
        return hold.add(found, Instant.ofEpochSecond(++second), SECOND);
    }

    @Test
    void shouldKeepAFindingForThreeIntervals() {
        for (int i = 0; i < 5; i++) assertThat(add(new GarbageCollection())).hasSize(1);
        assertThat(add().get(0).evidence())
                .containsExactly("evidence", "found in 5 intervals over 6 s, but not in the last one");
        add();
        assertThat(add().get(0).evidence())
                .containsExactly("evidence", "found in 5 intervals over 8 s, but not in the last 3");
        assertThat(add()).isEmpty();
    }

    @Test
    void shouldNotKeepWhatIsKnownMorePrecisely() {
        for (int i = 0; i < 5; i++) add(new SystemHeavy());
        assertThat(add(new YieldStorm())).extracting(Finding::kind).containsExactly(new YieldStorm());
    }

    @Test
    void shouldNotKeepWhatWasFoundOnce() {
        assertThat(add(new GarbageCollection()).get(0).evidence()).containsExactly("evidence");
        assertThat(add()).isEmpty();
    }

    /** A JVM that starts compiles much. */
    @Test
    void shouldShowSomeOnlyIfTheyLast() {
        for (int i = 0; i < 59; i++) assertThat(add(new Compilation())).isEmpty();
        assertThat(add(new Compilation())).hasSize(1);
        assertThat(add(new CpuContention(), new GarbageCollection()))
                .extracting(Finding::kind)
                .containsExactly(new GarbageCollection(), new Compilation());
    }
}
