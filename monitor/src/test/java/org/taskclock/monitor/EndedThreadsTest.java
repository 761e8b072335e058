// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

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

    @Test
    void shouldKeepTimesWithinTheUncertaintyForLater() {
        ended.start(SECOND, SECOND);
        assertThat(ended.advance(SECOND + 90, SECOND, 100)).isZero();
        assertThat(ended.advance(2 * SECOND, SECOND, SECOND)).isZero();
        assertThat(ended.advance(3 * SECOND, SECOND, SECOND)).isEqualTo(2 * SECOND);
    }
}
