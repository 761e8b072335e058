// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** Series of a recording have named accounts as the history does. */
class RecordingSeriesTest {
    private static final Instant START = Instant.parse("2026-11-22T03:12:00Z");
    private static final long SECOND = 1_000_000_000;
    private static final int SECONDS = 4;

    private static ThreadUsage account(String type, String name, long cpu, long user, long waited) {
        return ThreadUsage.ofGroup(1, new PoolKey(new AccountKey(type, name).pool(), ThreadKind.ACCOUNT), 0)
                .cpu(cpu, user)
                .waited(waited)
                .build();
    }

    private static PoolSeries series(List<ThreadUsage> threads, List<ThreadUsage> accounts) {
        List<Interval> intervals = new ArrayList<>();
        for (int i = 0; i < SECONDS; i++)
            intervals.add(new Interval(
                    START.plusSeconds(i + 1),
                    SECOND,
                    1,
                    "Main",
                    "agent",
                    threads,
                    new ProcessUsage(1_000, 700, -1, 0, -1, -1, 1, 0),
                    List.of(),
                    List.of(),
                    List.of(),
                    accounts));
        return new RecordingSeries(intervals, START, START.plusSeconds(SECONDS), SECONDS, 10).pools();
    }

    private static Map<String, PoolSeries.Row> rows(PoolSeries series) {
        return series.pools().stream().collect(Collectors.toMap(PoolSeries.Row::pool, row -> row));
    }

    @Test
    void shouldReturnAccountsBesidePools() {
        ThreadUsage thread = ThreadUsage.of(1, 7, "worker-1", ThreadKind.JAVA)
                .cpu(1_000, 700)
                .build();
        Map<String, PoolSeries.Row> rows = rows(series(
                List.of(thread),
                List.of(account("tenant", "a=b", 600, 500, 30), account("tenant", "(unaccounted)", 400, 200, -1))));
        assertThat(rows).containsOnlyKeys("worker-#", "tenant=a=b", "tenant=(unaccounted)");
        PoolSeries.Row account = rows.get("tenant=a=b");
        assertThat(account.isAccount()).isTrue();
        assertThat(account.userNanos()).hasSize(SECONDS).containsOnly(500);
        assertThat(account.systemNanos()).containsOnly(100);
        assertThat(account.waitNanos()).containsOnly(30);
        assertThat(account.threads()).containsOnly(0);
        assertThat(rows.get("tenant=(unaccounted)").waitNanos()).containsOnly(-1);
        assertThat(rows.get("worker-#").isAccount()).isFalse();
        assertThat(rows.get("worker-#").cpuNanos()).isEqualTo(1_000 * SECONDS);
    }

    @Test
    void shouldLimitAccountsByThemselves() {
        List<ThreadUsage> threads = new ArrayList<>();
        List<ThreadUsage> accounts = new ArrayList<>();
        // The time of the process that no thread has used is a pool, too.
        for (int i = 0; i < RecordingSeries.MAX_POOLS - 1; i++)
            threads.add(ThreadUsage.of(1, i + 1, "x".repeat(i + 1), ThreadKind.JAVA)
                    .cpu(1, 1)
                    .build());
        for (int i = 0; i < RecordingSeries.MAX_ACCOUNTS + 30; i++) accounts.add(account("tenant", "t" + i, 2, 1, 0));
        accounts.add(account("endpoint", "/a", 3, 3, 0));
        Map<String, PoolSeries.Row> rows = rows(series(threads, accounts));
        assertThat(rows).doesNotContainKey("other").doesNotContainKey("endpoint=/a");
        assertThat(rows.get("tenant=other").cpuNanos()).isEqualTo(30 * 2 * SECONDS);
        assertThat(rows.get("endpoint=other").cpuNanos()).isEqualTo(3 * SECONDS);
        assertThat(rows.values().stream().filter(PoolSeries.Row::isAccount)).hasSize(RecordingSeries.MAX_ACCOUNTS + 2);
    }
}
