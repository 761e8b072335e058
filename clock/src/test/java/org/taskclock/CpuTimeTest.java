// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class CpuTimeTest {
    private static final long YEAR = 31_536_000_000_000_000L;

    @Test
    void shouldReturnUnknownIfEitherIsUnknown() {
        CpuTime known = new CpuTime(3, 2, 1);
        assertThat(known.minus(CpuTime.UNKNOWN)).isSameAs(CpuTime.UNKNOWN);
        assertThat(CpuTime.UNKNOWN.minus(known)).isSameAs(CpuTime.UNKNOWN);
        assertThat(CpuTime.UNKNOWN.minus(CpuTime.UNKNOWN)).isSameAs(CpuTime.UNKNOWN);
        assertThat(CpuTime.UNKNOWN).isEqualTo(new CpuTime(-1, -1, -1));
        assertThat(CpuTime.UNKNOWN.isKnown()).isFalse();
        assertThat(known.isKnown()).isTrue();
    }

    @Property
    void shouldKeepTheSumInDifferences(
            @ForAll @LongRange(max = YEAR) long user,
            @ForAll @LongRange(max = YEAR) long system,
            @ForAll @LongRange(max = YEAR) long moreUser,
            @ForAll @LongRange(max = YEAR) long moreSystem) {
        CpuTime earlier = new CpuTime(user + system, user, system);
        CpuTime later = new CpuTime(user + system + moreUser + moreSystem, user + moreUser, system + moreSystem);
        CpuTime spent = later.minus(earlier);
        assertThat(spent).isEqualTo(new CpuTime(moreUser + moreSystem, moreUser, moreSystem));
    }
}
