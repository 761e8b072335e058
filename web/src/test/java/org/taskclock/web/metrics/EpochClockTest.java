// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class EpochClockTest {
    private static final long SECOND = 1_000_000_000;

    private long wall = 1_000 * SECOND;
    private long nanoTime = -50;

    private final EpochClock clock = new EpochClock(() -> wall, () -> nanoTime);

    private void pass(long nanos) {
        wall += nanos;
        nanoTime += nanos;
        clock.refresh();
    }

    @Test
    void shouldKeepTheStartTimeWhileTheClockIsCorrectedSlightly() {
        long start = nanoTime;
        pass(SECOND);
        wall += SECOND / 2;
        pass(SECOND);
        assertThat(clock.epochNanos(start)).isEqualTo(1_000 * SECOND);
    }

    @Test
    void shouldFollowAClockThatIsSetBack() {
        long start = nanoTime;
        pass(10 * SECOND);
        wall -= 3_600 * SECOND;
        pass(SECOND);
        assertThat(clock.epochNanos(nanoTime)).isEqualTo(wall);
        // The age of a counter is still right, so its start is not after its value.
        assertThat(clock.epochNanos(nanoTime) - clock.epochNanos(start)).isEqualTo(11 * SECOND);
    }
}
