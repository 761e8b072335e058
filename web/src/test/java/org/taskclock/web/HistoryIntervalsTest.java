// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.recording.Comparison;
import org.taskclock.monitor.recording.PoolSeries;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ThreadUsage;

/** Series of the history as intervals: each CPU time is in one pool, and accounts are beside the pools. */
class HistoryIntervalsTest {
    private static final Instant START = Instant.parse("2026-11-22T03:12:00Z");
    private static final int STEPS = 30;

    private static PoolSeries.Row row(String pool, ThreadKind kind, long user) {
        long[] nanos = new long[STEPS];
        Arrays.fill(nanos, user);
        return new PoolSeries.Row(pool, kind, new int[STEPS], nanos, new long[STEPS], new long[STEPS]);
    }

    /** Returns a pool that uses {@code user}, and two accounts that share it. */
    private static Iterable<Interval> intervals(long user, long acme) {
        PoolSeries.Row pool = row("worker", ThreadKind.JAVA, user);
        long[] times = new long[STEPS];
        for (int i = 0; i < STEPS; i++) times[i] = START.plusSeconds(i).toEpochMilli();
        PoolSeries.Totals totals = new PoolSeries.Totals(
                pool.userNanos(), new long[STEPS], new long[STEPS], new long[STEPS], new double[STEPS]);
        List<PoolSeries.Row> rows = List.of(
                pool,
                row("tenant=acme", ThreadKind.ACCOUNT, acme),
                row("tenant=(unaccounted)", ThreadKind.ACCOUNT, user - acme));
        return HistoryIntervals.of(
                new PoolSeries(START, START.plusSeconds(STEPS), Duration.ofSeconds(1), times, rows, totals), null);
    }

    @Test
    void shouldKeepAccountsOutOfThreads() {
        for (Interval interval : intervals(100, 40)) {
            assertThat(interval.threads()).extracting(ThreadUsage::name).containsExactly("worker");
            assertThat(interval.accounts())
                    .extracting(ThreadUsage::pool)
                    .containsExactly("tenant=acme", "tenant=(unaccounted)");
            assertThat(interval.accounts().get(0).cpuNanos()).isEqualTo(40);
        }
    }

    @Test
    void shouldCompareAccounts() {
        Comparison comparison =
                new Comparison(intervals(500_000_000, 100_000_000), intervals(500_000_000, 400_000_000), 0.01);
        assertThat(comparison.changes().stream().filter(Comparison.Change::changed))
                .extracting(change -> change.key().kind() + " " + change.key().name())
                .containsExactly("ACCOUNT tenant=(unaccounted)", "ACCOUNT tenant=acme");
    }
}
