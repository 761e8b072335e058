// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Times and sizes, as people write them. */
final class Amounts {
    private static final Pattern AMOUNT = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)\\s*([a-zA-Z]*)");

    private Amounts() {}

    /** 500ms, 1.5s, 10m, 1h, 2d; seconds where nothing is said. */
    static final class Time implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            Matcher amount = AMOUNT.matcher(text.trim());
            double seconds = amount.matches() ? Double.parseDouble(amount.group(1)) * unit(amount.group(2)) : -1;
            if (seconds <= 0)
                throw new TypeConversionException("\"" + text + "\" is no time, as 500ms, 10s, 5m, 1h or 2d");
            return Duration.ofNanos((long) (seconds * 1e9));
        }

        private static double unit(String name) {
            return switch (name) {
                case "ms" -> 1e-3;
                case "", "s" -> 1;
                case "m", "min" -> 60;
                case "h" -> 3_600;
                case "d" -> 86_400;
                default -> -1;
            };
        }
    }

    /** 500K, 100M, 2G, powers of 1,024; bytes where nothing is said. */
    static final class Size implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            Matcher amount = AMOUNT.matcher(text.trim());
            double bytes = amount.matches() ? Double.parseDouble(amount.group(1)) * unit(amount.group(2)) : -1;
            if (bytes <= 0) throw new TypeConversionException("\"" + text + "\" is no size, as 500K, 100M or 2G");
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

    /** 1000/s. */
    static final class Rate implements ITypeConverter<Double> {
        private static final Pattern FORM = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)(?:/s)?");

        @Override
        public Double convert(String text) {
            Matcher parts = FORM.matcher(text);
            if (!parts.matches()) throw new TypeConversionException('"' + text + "\" is not as 1000/s");
            return Double.valueOf(parts.group(1));
        }
    }

    static String size(long bytes) {
        if (bytes < 10_000) return bytes + " B";
        return bytes < 10_000_000 ? bytes / 1_000 + " kB" : bytes / 1_000_000 + " MB";
    }

    /** As it was put in: 90s, 5m, 1h. */
    static String time(Duration time) {
        long seconds = time.toSeconds();
        if (time.toMillis() % 1_000 != 0 || seconds == 0) return time.toMillis() / 1e3 + " s";
        if (seconds % 3_600 == 0) return seconds / 3_600 + " h";
        return seconds % 60 == 0 ? seconds / 60 + " min" : seconds + " s";
    }
}
