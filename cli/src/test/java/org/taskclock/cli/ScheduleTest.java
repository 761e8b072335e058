// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ScheduleTest {
    private static final long PERIOD = 100;

    /** Returns when each reading began. Reading i is late by the i-th delay. */
    private static List<Long> run(long start, long... delays) {
        Schedule schedule = new Schedule(start + PERIOD);
        List<Long> readings = new ArrayList<>();
        long now = start;
        for (long delay : delays) {
            if (schedule.due() - now > 0) now = schedule.due();
            now += delay;
            schedule.advance(now, PERIOD);
            readings.add(now - start);
        }
        return readings;
    }

    @Test
    void shouldNotDriftIfReadingsAreLate() {
        assertThat(run(7_000, 10, 20, 0, 30)).containsExactly(110L, 220L, 300L, 430L);
    }

    @Test
    void shouldCatchUpAtHalfTheInterval() {
        assertThat(run(0, 250, 0, 0, 0, 0, 0, 0)).containsExactly(350L, 400L, 450L, 500L, 550L, 600L, 700L);
    }

    @Test
    void shouldSkipWhatWasMissedInALongPause() {
        assertThat(run(0, 0, 5_000, 0, 0)).containsExactly(100L, 5_200L, 5_300L, 5_400L);
    }

    @Test
    void shouldKeepItsRateDespiteStalls() {
        Random random = new Random(7);
        long[] delays = new long[300];
        for (int i = 0; i < 290; i++)
            delays[i] = random.nextInt(20) == 0 ? 100 + random.nextInt(300) : random.nextInt(10);
        assertThat(run(Long.MAX_VALUE - 5_000, delays).get(299)).isEqualTo(300 * PERIOD);
    }
}
