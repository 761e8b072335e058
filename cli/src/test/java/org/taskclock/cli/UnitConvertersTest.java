// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class UnitConvertersTest {
    @ParameterizedTest
    @CsvSource({
        "500ms, 500, 0.5 s",
        "1.5s, 1500, 1.5 s",
        "2, 2000, 2 s",
        "90, 90000, 90 s",
        "10m, 600000, 10 min",
        "60m, 3600000, 1 h",
        "90m, 5400000, 90 min",
        "2d, 172800000, 48 h"
    })
    void shouldConvertDurations(String text, long millis, String formatted) {
        Duration duration = new UnitConverters.DurationConverter().convert(text);
        assertThat(duration).isEqualTo(Duration.ofMillis(millis));
        assertThat(UnitConverters.formatDuration(duration)).isEqualTo(formatted);
    }

    @ParameterizedTest
    @CsvSource({"9999, 9999, 9999 B", "500K, 512000, 512 kB", "1.5MB, 1572864, 1572 kB", "2g, 2147483648, 2147 MB"})
    void shouldConvertSizes(String text, long bytes, String formatted) {
        assertThat(new UnitConverters.SizeConverter().convert(text)).isEqualTo(bytes);
        assertThat(UnitConverters.formatSize(bytes)).isEqualTo(formatted);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "-1", "1x", "1 0", "1e3", "K"})
    void shouldRejectOtherText(String text) {
        assertThatThrownBy(() -> new UnitConverters.DurationConverter().convert(text))
                .isInstanceOf(TypeConversionException.class);
        assertThatThrownBy(() -> new UnitConverters.SizeConverter().convert(text))
                .isInstanceOf(TypeConversionException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "5/min", "1k", "many"})
    void shouldRejectOtherRatesAndPercentages(String text) {
        assertThat(new UnitConverters.RateConverter().convert("1000/s")).isEqualTo(1000);
        assertThat(new UnitConverters.PercentConverter().convert("0.5 %")).isEqualTo(0.5);
        assertThatThrownBy(() -> new UnitConverters.RateConverter().convert(text))
                .isInstanceOf(TypeConversionException.class);
        assertThatThrownBy(() -> new UnitConverters.PercentConverter().convert(text))
                .isInstanceOf(TypeConversionException.class);
    }
}
