// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReadBudgetTest {
    private static final long SECOND = 1_000_000_000;

    @Test
    void shouldLimitTheShareOfACore() {
        ReadBudget budget = new ReadBudget(0.01, 0);
        long spent = 0;
        for (long now = 0; now < 100 * SECOND; now += SECOND / 10) {
            if (!budget.isAvailable(now)) continue;
            budget.charge(SECOND / 20);
            spent += SECOND / 20;
        }
        // One second at 1 %, what was saved at first, and the last reading.
        assertThat(spent).isBetween(95 * SECOND / 100, 107 * SECOND / 100);
    }

    @Test
    void shouldSaveNoMoreThanOneSecond() {
        ReadBudget budget = new ReadBudget(0.01, 0);
        assertThat(budget.isAvailable(1_000 * SECOND)).isTrue();
        budget.charge(SECOND / 100);
        assertThat(budget.isAvailable(1_000 * SECOND)).isFalse();
    }
}
