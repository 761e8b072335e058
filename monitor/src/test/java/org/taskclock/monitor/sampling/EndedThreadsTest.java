// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.taskclock.metrics.Counters;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.EndedPool;

/** What is known about ended threads. */
class EndedThreadsTest {
    private static final long SECOND = 1_000_000_000;

    private final EndedThreads ended = new EndedThreads(1);

    private static Counters used(long cpuNanos) {
        Counters used = new Counters();
        used.cpuNanos = cpuNanos;
        return used;
    }

    private void end(String pool) {
        ended.add(new PoolKey(pool, ThreadKind.JAVA), SECOND, SECOND);
    }

    @Test
    void shouldAddUpTheCpuTimeSinceWatchingBegan() {
        ended.start(6 * SECOND);
        ended.usage(used(2 * SECOND));
        assertThat(ended.usage(used(3 * SECOND)))
                .matches(usage -> usage.threads() == 1 && usage.cpuNanos() == 3 * SECOND)
                .matches(usage -> usage.totalNanos() == 11 * SECOND && usage.watchedNanos() == 5 * SECOND);
    }

    @Test
    void shouldCountThreadsOnce() {
        for (int i = 0; i < 3; i++) end("worker-#");
        assertThat(ended.usage(used(SECOND)).threads()).isEqualTo(3);
        assertThat(ended.usage(used(SECOND)).threads()).isEqualTo(1);
        assertThat(ended.pools()).hasSize(1).allMatch(pool -> pool.pool().equals("worker-#") && pool.threads() == 3);
    }

    /** A program may give each thread another name. */
    @Test
    void shouldLimitTheNumberOfPools() {
        for (int i = 0; i < 2_000; i++) end("pool " + i);
        assertThat(ended.pools()).hasSize(1_001);
        assertThat(ended.pools().stream().mapToInt(EndedPool::threads).sum()).isEqualTo(2_000);
        assertThat(ended.pools()).anyMatch(pool -> pool.key().equals(PoolKey.ENDED) && pool.threads() == 1_000);
    }
}
