// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts durations such as 500ms, 1.5s, 10m, 1h or 2d to seconds. A number without a unit is in seconds. */
public final class SecondsConverter implements ITypeConverter<Double> {
    private static final Pattern DURATION = Pattern.compile("([0-9]+(?:\\.[0-9]+)?|\\.[0-9]+)\\s*([a-z]*)");

    /** Constructed by picocli. */
    public SecondsConverter() {}

    @Override
    public Double convert(String text) {
        Matcher parts = DURATION.matcher(text.trim());
        double seconds = parts.matches() ? Double.parseDouble(parts.group(1)) * unit(parts.group(2)) : -1;
        if (seconds <= 0)
            throw new TypeConversionException("\"" + text + "\" is not a duration such as 500ms, 10s, 5m, 1h or 2d");
        return seconds;
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
