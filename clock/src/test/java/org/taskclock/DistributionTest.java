// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;

@SuppressWarnings("try") // sections are only opened and closed
class DistributionTest {
    private static final long MILLISECOND = 1_000_000;

    private static Distribution of(long... nanos) {
        AtomicLongArray shared = new AtomicLongArray(Distribution.LENGTH);
        for (long each : nanos) Distribution.record(shared, each);
        return new Distribution(shared);
    }

    @Test
    void shouldAddUpTheTimeOfWhatItCounts() {
        Distribution distribution = of(0, 5, 3 * MILLISECOND, Long.MAX_VALUE / 2);
        assertThat(distribution.count()).isEqualTo(4);
        assertThat(distribution.sumNanos()).isEqualTo(5 + 3 * MILLISECOND + Long.MAX_VALUE / 2);
        Distribution copy = new Distribution(distribution.counts(), distribution.sumNanos());
        assertThat(copy.counts()).isEqualTo(distribution.counts());
        assertThat(copy.sumNanos()).isEqualTo(distribution.sumNanos());
    }

    @Test
    void shouldSubtractAnEarlierReading() {
        Distribution since = of(7, 7, 3 * MILLISECOND).since(of(7));
        assertThat(since.count()).isEqualTo(2);
        assertThat(since.sumNanos()).isEqualTo(7 + 3 * MILLISECOND);
        assertThat(since.quantileNanos(0.5)).isEqualTo(8);
        assertThat(of(7).since(of(7, 9)).count()).isZero();
        assertThat(of(7).since(of(7, 9)).sumNanos()).isZero();
    }

    /** A time in the same bucket as the bound is above it, so at most 11 % below the bound are missing. */
    @Test
    void shouldCountTheTimesBelowABound() {
        for (long bound : new long[] {10_000, MILLISECOND, 30 * MILLISECOND, 100_000 * MILLISECOND}) {
            assertThat(of(bound).countBelow(bound)).as("%d", bound).isZero();
            assertThat(of(bound * 88 / 100).countBelow(bound)).as("%d", bound).isEqualTo(1);
        }
        Distribution distribution = of(0, 100, 2 * MILLISECOND, 50 * MILLISECOND, Long.MAX_VALUE);
        assertThat(distribution.countBelow(Long.MAX_VALUE)).isEqualTo(5);
        assertThat(distribution.countsBetween(1_000, MILLISECOND, 10 * MILLISECOND))
                .containsExactly(2, 0, 1, 2);
    }

    @Test
    void shouldIgnoreBucketsThatDoNotExist() {
        long[] counts = new long[1_000];
        counts[999] = 1;
        assertThat(new Distribution(counts, 0).count()).isZero();
        assertThat(new Distribution(new long[] {0, 2}, 2).quantileNanos(0.5)).isEqualTo(2);
    }

    /** The account has used more than its distribution: in an open section, and before the distribution began. */
    @Test
    void shouldHaveOnlyClosedSectionsSinceItBegan() {
        AccountType type = CpuAccounts.type("distribution-test");
        CpuAccount account = type.of("a");
        enterAndClose(account);
        type.withDistribution();
        type.read();
        enterAndClose(account);
        try (CpuSection open = account.enter()) {
            burn();
            List<AccountUsage> rows = type.read().accounts();
            assertThat(rows).hasSize(1);
            Distribution distribution = rows.get(0).distribution();
            assertThat(distribution.count()).isEqualTo(1);
            assertThat(distribution.sumNanos()).isBetween(5 * MILLISECOND, 10 * MILLISECOND);
            assertThat(rows.get(0).cpuNanos()).isGreaterThanOrEqualTo(distribution.sumNanos() + 10 * MILLISECOND);
        }
    }

    private static void enterAndClose(CpuAccount account) {
        try (CpuSection section = account.enter()) {
            burn();
        }
    }

    private static void burn() {
        long end = TaskClock.cpuNanos() + 5 * MILLISECOND;
        while (TaskClock.cpuNanos() < end) Thread.onSpinWait();
    }
}
