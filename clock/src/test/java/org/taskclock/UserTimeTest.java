// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class UserTimeTest {
    private static final long MAX_NANOS = 10_000_000_000_000_000L;

    @Property
    void shouldNeverDecreaseEitherPart(
            @ForAll @LongRange(max = MAX_NANOS) long lastUser,
            @ForAll @LongRange(max = MAX_NANOS) long lastSystem,
            @ForAll @LongRange(max = MAX_NANOS) long elapsed,
            @ForAll @LongRange(min = -MAX_NANOS, max = 2 * MAX_NANOS) long target) {
        long lastCpu = lastUser + lastSystem;
        long cpu = lastCpu + elapsed;
        long user = UserTime.monotonic(lastCpu, lastUser, cpu, target);
        assertThat(user).isGreaterThanOrEqualTo(lastUser);
        assertThat(cpu - user).isGreaterThanOrEqualTo(lastSystem);
        if (target >= lastUser && target <= lastUser + elapsed) assertThat(user).isEqualTo(target);
    }

    @Property
    void shouldNotExceedTheTotal(
            @ForAll @LongRange(max = MAX_NANOS) long cpu,
            @ForAll @LongRange(max = 1_000_000) long userTicks,
            @ForAll @LongRange(max = 1_000_000) long systemTicks) {
        long tick = 4_000_000;
        assertThat(UserTime.scaled(cpu, userTicks * tick, (userTicks + systemTicks) * tick))
                .isBetween(0L, cpu);
    }

    @Test
    void shouldAttributeEverythingToUserUntilTheFirstTick() {
        assertThat(UserTime.scaled(123, 0, 0)).isEqualTo(123);
        assertThat(UserTime.scaled(100, 3, 4)).isEqualTo(75);
        assertThat(UserTime.scaled(100, 0, 4)).isZero();
    }
}
