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

/** Tests the arithmetic of the switched server with made-up figures. */
class AccountingCostTest {
    private static final double[] RISING = {1_000, 1_100, 1_210, 1_331, 1_464, 1_610, 1_771, 1_948};

    /** Returns measurements of a server that gets faster over time, in the order on, off, off, on, and so on. */
    private static List<ServerProgram.Figures> measurements(double shareWithAccounting, int count) {
        List<ServerProgram.Figures> measurements = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            boolean accounting = i % 4 == 0 || i % 4 == 3;
            long requests = Math.round(1e6 * RISING[i] * (accounting ? shareWithAccounting : 1));
            measurements.add(new ServerProgram.Figures(accounting, 2, requests, (long) 1e12, 0, 0));
        }
        return measurements;
    }

    private static Result.Finding finding(double share, int count) {
        return AccountingCost.finding(Map.of("25", measurements(share, count)));
    }

    @Test
    void shouldComparePairsInEitherOrder() {
        AccountingCost same = new AccountingCost(measurements(1, 8));
        // 10 % more, then 10 % less: drift cancels out, but widens the interval.
        assertThat(same.throughput().percent()).isCloseTo(0.45, within(0.1));
        assertThat(same.throughput().error()).isBetween(10.0, 20.0);
        AccountingCost half = new AccountingCost(measurements(0.5, 8));
        assertThat(half.throughput().percent()).isCloseTo(-49.8, within(0.1));
        assertThat(half.cpu().percent()).isCloseTo(101, within(1.0));
    }

    @Test
    void shouldShowPairs() {
        Result.Table table = AccountingCost.table(Map.of("25", measurements(0.5, 7)));
        assertThat(table.rows()).hasSize(2).allSatisfy(row -> assertThat(row).hasSameSizeAs(table.columns()));
        // The seventh has no partner.
        assertThat(table.rows().get(0).subList(0, 3)).isEqualTo(List.of("requests per second", "25", 3));
        assertThat((double) table.rows().get(0).get(4)).isCloseTo(1e6 * (1_100 + 1_210 + 1_610) / 6, within(1e3));
        assertThat(AccountingCost.table(Map.of("25", List.<ServerProgram.Figures>of()))
                        .rows())
                .isEmpty();
    }

    @Test
    void shouldConfirmOnlySignificantResults() {
        assertThat(finding(1, 8).verdict()).isEqualTo("inconclusive");
        assertThat(finding(0.5, 8).verdict()).isEqualTo("contradicted");
        assertThat(finding(0.5, 8).text()).startsWith("JDK 25: -49.77 % ");
        assertThat(finding(1, 2).verdict()).isEqualTo("not measured");
        List<ServerProgram.Figures> quiet = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            boolean accounting = i % 4 == 0 || i % 4 == 3;
            quiet.add(new ServerProgram.Figures(accounting, 1, accounting ? 99_000 : 100_000 + i, (long) 1e9, 0, 0));
        }
        assertThat(AccountingCost.finding(Map.of("25", quiet)).verdict()).isEqualTo("confirmed");
    }
}
