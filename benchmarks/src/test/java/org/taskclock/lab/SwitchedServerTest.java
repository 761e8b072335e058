// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.taskclock.report.Result;

/** The arithmetic of the server that is switched, on made-up figures. */
class SwitchedServerTest {
    private static final double[] RISING = {1_000, 1_100, 1_210, 1_331, 1_464, 1_610, 1_771, 1_948};

    /** On, off, off, on, and so on, of a server that becomes quicker by itself. */
    private static List<Server.Figures> turns(double partWithAccounting, int count) {
        List<Server.Figures> turns = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            boolean accounting = i % 4 == 0 || i % 4 == 3;
            long requests = Math.round(1e6 * RISING[i] * (accounting ? partWithAccounting : 1));
            turns.add(new Server.Figures(accounting, 2, requests, (long) 1e12, 0, 0));
        }
        return turns;
    }

    private static Result.Finding finding(double part, int count) {
        return SwitchedServer.finding(Map.of("25", turns(part, count)));
    }

    @Test
    void shouldCompareNeighboursInEitherOrder() {
        SwitchedServer same = new SwitchedServer(turns(1, 8));
        // 10 % more, then 10 % less: what drifts goes out, and widens what may be.
        assertThat(same.throughput().percent()).isCloseTo(0.45, within(0.1));
        assertThat(same.throughput().error()).isBetween(10.0, 20.0);
        SwitchedServer half = new SwitchedServer(turns(0.5, 8));
        assertThat(half.throughput().percent()).isCloseTo(-49.8, within(0.1));
        assertThat(half.cpu().percent()).isCloseTo(101, within(1.0));
    }

    @Test
    void shouldTellWhatItShows() {
        Result.Table table = SwitchedServer.table(Map.of("25", turns(0.5, 7)));
        assertThat(table.rows()).hasSize(2).allSatisfy(row -> assertThat(row).hasSameSizeAs(table.columns()));
        // The seventh has no neighbour.
        assertThat(table.rows().get(0).subList(0, 3)).isEqualTo(List.of("requests a second", "25", 3));
        assertThat((double) table.rows().get(0).get(4)).isCloseTo(1e6 * (1_100 + 1_210 + 1_610) / 6, within(1e3));
        assertThat(SwitchedServer.table(Map.of("25", List.<Server.Figures>of())).rows())
                .isEmpty();
    }

    @Test
    void shouldJudgeOnlyWhatCanBeTold() {
        assertThat(finding(1, 8).verdict()).isEqualTo("cannot be told");
        assertThat(finding(0.5, 8).verdict()).isEqualTo("contradicted");
        assertThat(finding(0.5, 8).text()).startsWith("JDK 25: -49.77 % ");
        assertThat(finding(1, 2).verdict()).isEqualTo("not measured");
        List<Server.Figures> quiet = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            boolean accounting = i % 4 == 0 || i % 4 == 3;
            quiet.add(new Server.Figures(accounting, 1, accounting ? 99_000 : 100_000 + i, (long) 1e9, 0, 0));
        }
        assertThat(SwitchedServer.finding(Map.of("25", quiet)).verdict()).isEqualTo("confirmed");
    }
}
