// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ProfileBudgetTest {
    private static final long MILLI = 1_000_000;

    /** Returns the share of one core that profiles cost which take a time to start, and another for each sample. */
    private static double share(
            ProfileBudget budget, long startNanos, double cores, long nanosPerSample, int profiles) {
        double cost = 0;
        double time = 0;
        for (int i = 0; i < profiles; i++) {
            Duration length = Duration.ofMinutes(budget.minutes());
            double samples = cores * length.toNanos() / budget.period().toNanos();
            long once = (long) (startNanos + samples * nanosPerSample);
            cost += once;
            time += length.toNanos() + budget.add(length, once).toNanos();
        }
        return cost / time;
    }

    @Test
    void shouldKeepTheLimitWhateverItCosts() {
        for (double limit : new double[] {0.001, 0.01, 0.05})
            for (double cores : new double[] {0.01, 1, 64})
                for (long start : new long[] {0, 100 * MILLI, 5_000 * MILLI})
                    assertThat(share(new ProfileBudget(limit), start, cores, 30_000, 50))
                            .as("limit %s, %s cores, start %s", limit, cores, start)
                            .isLessThanOrEqualTo(limit * 1.000001);
    }

    @Test
    void shouldProfileAllTheTimeIfThatIsCheap() {
        ProfileBudget budget = new ProfileBudget(0.01);
        assertThat(budget.period()).isEqualTo(Duration.ofMillis(20));
        for (int i = 0; i < 10; i++)
            assertThat(budget.add(Duration.ofMinutes(1), 100 * MILLI)).isZero();
        assertThat(budget.minutes()).isEqualTo(1);
        assertThat(budget.period()).isEqualTo(Duration.ofMillis(20));
    }

    @Test
    void shouldBecomeCoarserBeforeItPausesAndFinerAgain() {
        ProfileBudget budget = new ProfileBudget(0.001);
        assertThat(budget.add(Duration.ofMinutes(1), 100 * MILLI))
                .as("100 ms are 0.1 % of 100 s")
                .isEqualTo(Duration.ofSeconds(40));
        assertThat(budget.minutes()).isEqualTo(2);
        assertThat(budget.period()).isEqualTo(Duration.ofMillis(40));
        assertThat(budget.add(Duration.ofMinutes(2), 100 * MILLI)).isZero();
        assertThat(budget.minutes()).isEqualTo(2);
        assertThat(budget.add(Duration.ofMinutes(2), 10 * MILLI)).isZero();
        assertThat(budget.minutes()).isEqualTo(1);
    }
}
