// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Durations, sizes, rates, percentages, and thresholds on the command line. */
public final class OptionValueFuzz {
    private static final List<ITypeConverter<?>> CONVERTERS = List.of(
            new UnitConverters.DurationConverter(),
            new UnitConverters.SizeConverter(),
            new UnitConverters.RateConverter(),
            new UnitConverters.PercentConverter(),
            new CpuThreshold.Converter());

    private OptionValueFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) throws Exception {
        String text = new String(data, StandardCharsets.UTF_8);
        for (ITypeConverter<?> converter : CONVERTERS) {
            try {
                Object value = converter.convert(text);
                if (value instanceof Duration duration) {
                    if (duration.isNegative()) throw new AssertionError("negative: " + text);
                    UnitConverters.formatDuration(duration);
                } else if (value instanceof Number number) {
                    if (!(number.doubleValue() >= 0)) throw new AssertionError("negative: " + text);
                    UnitConverters.formatSize(number.longValue());
                }
            } catch (TypeConversionException e) {
                if (e.getMessage() == null) throw new AssertionError("no reason", e);
            }
        }
    }
}
