// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.taskclock.monitor.proc.ProcFile;
import org.taskclock.monitor.usage.EndedPool;

/** The CPU time of ended threads, from totals of the process and of its live threads. */
class EndedThreadsTest {
    private static final long SECOND = 1_000_000_000;

    private final EndedThreads ended = new EndedThreads(1);

    @Test
    void shouldReportEachTimeOnce() {
        ended.start(10 * SECOND, 4 * SECOND);
        assertThat(ended.advance(11 * SECOND, 5 * SECOND, 0)).isZero();
        assertThat(ended.advance(14 * SECOND, 5 * SECOND, 0)).isEqualTo(3 * SECOND);
        assertThat(ended.usage(3 * SECOND, SECOND))
                .matches(usage -> usage.threads() == 1 && usage.cpuNanos() == 3 * SECOND)
                .matches(usage -> usage.totalNanos() == 9 * SECOND && usage.watchedNanos() == 3 * SECOND);
        assertThat(ended.advance(14 * SECOND, 5 * SECOND, 0)).isZero();
    }

    private static TrackedThread endedThread(String name) {
        TrackedThread thread = new TrackedThread(1, 2, true, new ProcFile.Budget(0), new byte[0]);
        thread.kernelName = name;
        thread.totalNanos = SECOND;
        return thread;
    }

    @Test
    void shouldCountThreadsOnce() {
        ended.start(0, 0);
        for (int i = 0; i < 3; i++) ended.add(endedThread("worker-" + i));
        assertThat(ended.usage(SECOND, SECOND).threads()).isEqualTo(3);
        assertThat(ended.usage(SECOND, SECOND).threads()).isEqualTo(1);
        assertThat(ended.pools()).hasSize(1).allMatch(pool -> pool.pool().equals("worker-#") && pool.threads() == 3);
    }

    /** A program may give each thread another name. */
    @Test
    void shouldLimitTheNumberOfPools() {
        ended.start(0, 0);
        for (int i = 0; i < 2_000; i++) {
            String letters = Integer.toBinaryString(i).replace('0', 'a').replace('1', 'b');
            ended.add(endedThread(letters));
        }
        assertThat(ended.pools()).hasSize(1_001);
        assertThat(ended.pools().stream().mapToInt(EndedPool::threads).sum()).isEqualTo(2_000);
        assertThat(ended.pools()).anyMatch(pool -> pool.pool().equals(EndedPool.UNKNOWN) && pool.threads() == 1_000);
    }

    @Test
    void shouldKeepTimesWithinTheUncertaintyForLater() {
        ended.start(SECOND, SECOND);
        assertThat(ended.advance(SECOND + 90, SECOND, 100)).isZero();
        assertThat(ended.advance(2 * SECOND, SECOND, SECOND)).isZero();
        assertThat(ended.advance(3 * SECOND, SECOND, SECOND)).isEqualTo(2 * SECOND);
    }
}
