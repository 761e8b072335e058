// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

class WallClockTest {
    @Test
    void shouldNameZonesAsBrowsersDo() {
        assertThat(new WallClock(ZoneId.of("Europe/Berlin")).zone()).isEqualTo("Europe/Berlin");
        assertThat(new WallClock(ZoneId.of("UTC")).zone()).isEqualTo("UTC");
        assertThat(new WallClock(ZoneId.of("GMT")).zone()).isEqualTo("UTC");
        assertThat(new WallClock(ZoneId.of("GMT+02:00")).zone()).isEqualTo("+02:00");
    }

    @Test
    void shouldShowTheDateOnlyIfTheDayChanges() {
        WallClock clock = new WallClock(ZoneOffset.ofHours(2));
        Instant start = Instant.parse("2026-11-21T20:00:00Z");
        Instant evening = Instant.parse("2026-11-21T21:59:59Z"); // 23:59:59
        Instant midnight = Instant.parse("2026-11-21T22:00:00Z");
        assertThat(clock.timeWithin(start, evening, evening)).isEqualTo("23:59:59");
        assertThat(clock.timeWithin(start, midnight, evening)).isEqualTo("2026-11-21 23:59:59");
        assertThat(clock.timeWithin(start, midnight, midnight)).isEqualTo("2026-11-22 00:00:00");
        assertThat(WallClock.parse("yesterday")).isNull();
        assertThat(WallClock.parse(null)).isNull();
    }
}
