// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class SplitTest {
    private static final long DAYS = 10_000_000_000_000_000L;

    @Property
    void shouldNeverLetEitherPartGoBackwards(
            @ForAll @LongRange(max = DAYS) long lastUser,
            @ForAll @LongRange(max = DAYS) long lastSystem,
            @ForAll @LongRange(max = DAYS) long grown,
            @ForAll @LongRange(min = -DAYS, max = 2 * DAYS) long target) {
        long lastCpu = lastUser + lastSystem;
        long cpu = lastCpu + grown;
        long user = Split.user(lastCpu, lastUser, cpu, target);
        assertThat(user).isGreaterThanOrEqualTo(lastUser);
        assertThat(cpu - user).isGreaterThanOrEqualTo(lastSystem);
        if (target >= lastUser && target <= lastUser + grown) assertThat(user).isEqualTo(target);
    }

    @Property
    void shouldScaleWithinTheTotal(
            @ForAll @LongRange(max = DAYS) long cpu,
            @ForAll @LongRange(max = 1_000_000) long userTicks,
            @ForAll @LongRange(max = 1_000_000) long systemTicks) {
        long tick = 4_000_000;
        assertThat(Split.scaled(cpu, userTicks * tick, (userTicks + systemTicks) * tick))
                .isBetween(0L, cpu);
    }

    @Test
    void shouldCallAllOfItUserUntilTheFirstTick() {
        assertThat(Split.scaled(123, 0, 0)).isEqualTo(123);
        assertThat(Split.scaled(100, 3, 4)).isEqualTo(75);
        assertThat(Split.scaled(100, 0, 4)).isZero();
    }
}
