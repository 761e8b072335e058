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

class SectionCounterTest {
    private static final long MAX_COUNTER = 1L << 60;

    enum Step {
        OPEN,
        CLOSE,
        DISCARD,
        READ
    }

    @Property
    void shouldAddUpLikeASimpleSum(
            @ForAll @Size(max = 40) List<Step> steps,
            @ForAll @LongRange(max = MAX_COUNTER) long start,
            @ForAll @IntRange(max = 1_000_000) int stride) {
        SectionCounter sections = new SectionCounter();
        long counter = start;
        long sum = 0;
        long openedAt = -1;
        long lastTotal = 0;
        for (Step step : steps) {
            counter += stride;
            boolean isOpen = openedAt >= 0;
            switch (step) {
                case OPEN -> {
                    if (isOpen) continue;
                    sections.open(counter);
                    openedAt = counter;
                }
                case CLOSE -> {
                    if (!isOpen) continue;
                    sections.close(counter);
                    sum += counter - openedAt;
                    openedAt = -1;
                }
                case DISCARD -> {
                    if (!isOpen) continue;
                    sections.discard();
                    openedAt = -1;
                }
                case READ -> lastTotal = Math.max(lastTotal, isOpen ? sum + counter - openedAt : sum);
            }
            if (step == Step.READ)
                assertThat(sections.total(sections.state(), counter)).isEqualTo(lastTotal);
            assertThat(SectionCounter.isOpen(sections.state())).isEqualTo(openedAt >= 0);
            assertThat(sections.used()).isEqualTo(sum);
        }
    }

    @Test
    void shouldRepeatTheLastTotalIfTheCounterIsUnknown() {
        SectionCounter sections = new SectionCounter();
        sections.open(100);
        assertThat(sections.total(sections.state(), 150)).isEqualTo(50);
        assertThat(sections.total(sections.state(), -1)).isEqualTo(50);
    }

    @Test
    void shouldNotDecreaseIfTheThreadsClockIsBehindTheReaders() {
        SectionCounter sections = new SectionCounter();
        sections.open(100);
        assertThat(sections.total(sections.state(), 151)).isEqualTo(51);
        sections.close(150);
        assertThat(sections.total(sections.state(), -1)).isEqualTo(51);
        sections.open(90);
        sections.close(80);
        assertThat(sections.used()).isEqualTo(50);
    }

    @Test
    void shouldNotAddACounterToAnotherState() {
        SectionCounter sections = new SectionCounter();
        sections.open(100);
        long before = sections.state();
        sections.close(110);
        sections.open(1_000_000);
        assertThat(sections.total(before, 1_000_000)).isEqualTo(10);
    }
}
