// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ResultNamesTest {
    @Test
    void shouldGiveEachResultItsOwnName() {
        Result one = Samples.empty("bench", Map.of());
        WallClock clock = new WallClock(ZoneOffset.UTC);
        assertThat(ResultNames.of(List.of(one), List.of("file"), clock)).containsExactly("bench quick");
        assertThat(ResultNames.of(List.of(one, one), List.of("before", "after"), clock))
                .containsExactly("before", "after");
        assertThat(ResultNames.of(List.of(one, one), List.of("same", "same"), clock))
                .containsExactly(
                        "bench quick, 2026-11-21 12:00:00 to 12:02:51 (UTC)",
                        "bench quick, 2026-11-21 12:00:00 to 12:02:51 (UTC) (2)");
        assertThat(ResultNames.of(List.of(one, Samples.empty("experiment", Map.of())), List.of(), clock))
                .containsExactly("bench quick", "experiment quick");
    }
}
