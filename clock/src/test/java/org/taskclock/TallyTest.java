// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class TallyTest {
    private static final long YEARS = 1L << 60;

    enum Step {
        OPEN,
        CLOSE,
        FORGET,
        TELL
    }

    @Property
    void shouldTellWhatASimpleSumTells(
            @ForAll @Size(max = 40) List<Step> steps,
            @ForAll @LongRange(max = YEARS) long start,
            @ForAll @IntRange(max = 1_000_000) int stride) {
        Tally tally = new Tally();
        long counter = start;
        long sum = 0;
        long openedAt = -1;
        long told = 0;
        for (Step step : steps) {
            counter += stride;
            boolean isOpen = openedAt >= 0;
            switch (step) {
                case OPEN -> {
                    if (isOpen) continue;
                    tally.open(counter);
                    openedAt = counter;
                }
                case CLOSE -> {
                    if (!isOpen) continue;
                    tally.close(counter);
                    sum += counter - openedAt;
                    openedAt = -1;
                }
                case FORGET -> {
                    if (!isOpen) continue;
                    tally.forget();
                    openedAt = -1;
                }
                case TELL -> told = Math.max(told, isOpen ? sum + counter - openedAt : sum);
            }
            if (step == Step.TELL)
                assertThat(tally.tell(tally.state(), counter)).isEqualTo(told);
            assertThat(Tally.isOpen(tally.state())).isEqualTo(openedAt >= 0);
            assertThat(tally.used()).isEqualTo(sum);
        }
    }

    @Test
    void shouldTellWhatItToldWhereTheCounterCannotBeRead() {
        Tally tally = new Tally();
        tally.open(100);
        assertThat(tally.tell(tally.state(), 150)).isEqualTo(50);
        assertThat(tally.tell(tally.state(), -1)).isEqualTo(50);
    }

    @Test
    void shouldNotGoBackWhereItsThreadsClockIsBehindTheReaders() {
        Tally tally = new Tally();
        tally.open(100);
        assertThat(tally.tell(tally.state(), 151)).isEqualTo(51);
        tally.close(150);
        assertThat(tally.tell(tally.state(), -1)).isEqualTo(51);
        tally.open(90);
        tally.close(80);
        assertThat(tally.used()).isEqualTo(50);
    }

    @Test
    void shouldNotAddACounterToAnotherState() {
        Tally tally = new Tally();
        tally.open(100);
        long before = tally.state();
        tally.close(110);
        tally.open(1_000_000);
        assertThat(tally.tell(before, 1_000_000)).isEqualTo(10);
    }
}
