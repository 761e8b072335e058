// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.taskclock.monitor.usage.DurationText;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses and formats durations, sizes and rates. */
final class UnitConverters {
    private static final Pattern AMOUNT = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)\\s*([a-zA-Z]*)");

    private UnitConverters() {}

    /** Converts 500ms, 1.5s, 10m, 1h or 2d; the default unit is seconds. */
    static final class DurationConverter implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            try {
                return DurationText.parse(text);
            } catch (IllegalArgumentException e) {
                throw new TypeConversionException(e.getMessage());
            }
        }
    }

    /** Converts 500K, 100M or 2G, in powers of 1,024; the default unit is bytes. */
    static final class SizeConverter implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            Matcher amount = AMOUNT.matcher(text.trim());
            double bytes = amount.matches() ? Double.parseDouble(amount.group(1)) * unit(amount.group(2)) : -1;
            if (bytes <= 0)
                throw new TypeConversionException("\"" + text + "\" is not a size such as 500K, 100M or 2G");
            return (long) bytes;
        }

        private static double unit(String name) {
            return switch (name) {
                case "" -> 1;
                case "k", "K", "kB", "KB" -> 1L << 10;
                case "m", "M", "MB" -> 1L << 20;
                case "g", "G", "GB" -> 1L << 30;
                default -> -1;
            };
        }
    }

    /** Converts a rate such as 1000/s. */
    static final class RateConverter implements ITypeConverter<Double> {
        private static final Pattern FORMAT = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)(?:/s)?");

        @Override
        public Double convert(String text) {
            Matcher parts = FORMAT.matcher(text);
            if (!parts.matches()) throw new TypeConversionException('"' + text + "\" is not a rate such as 1000/s");
            return Double.valueOf(parts.group(1));
        }
    }

    /** Converts a percentage such as 5% or 0.5. */
    static final class PercentConverter implements ITypeConverter<Double> {
        private static final Pattern FORMAT = Pattern.compile("([0-9]+(?:\\.[0-9]+)?) *%?");

        @Override
        public Double convert(String text) {
            Matcher parts = FORMAT.matcher(text.trim());
            if (!parts.matches()) throw new TypeConversionException('"' + text + "\" is not a percentage such as 5%");
            return Double.valueOf(parts.group(1));
        }
    }

    static String formatSize(long bytes) {
        if (bytes < 10_000) return bytes + " B";
        return bytes < 10_000_000 ? bytes / 1_000 + " kB" : bytes / 1_000_000 + " MB";
    }

    /** Formats a duration in its largest whole unit. */
    static String formatDuration(Duration duration) {
        long seconds = duration.toSeconds();
        if (duration.toMillis() % 1_000 != 0 || seconds == 0) return duration.toMillis() / 1e3 + " s";
        if (seconds % 3_600 == 0) return seconds / 3_600 + " h";
        return seconds % 60 == 0 ? seconds / 60 + " min" : seconds + " s";
    }
}
