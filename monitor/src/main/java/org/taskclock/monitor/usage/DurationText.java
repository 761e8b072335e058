// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.usage;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses the durations that users write in options. */
public final class DurationText {
    private static final Pattern FORMAT = Pattern.compile("([0-9]+(?:\\.[0-9]+)?|\\.[0-9]+)\\s*([a-z]*)");

    private DurationText() {}

    /**
     * Parses a positive duration such as 500ms, 1.5s, 10m, 1h or 2d. A number without a unit is in seconds.
     *
     * @throws IllegalArgumentException with a message for the user
     */
    public static Duration parse(String text) {
        Matcher parts = FORMAT.matcher(text.trim());
        double seconds = parts.matches() ? Double.parseDouble(parts.group(1)) * unit(parts.group(2)) : -1;
        if (seconds <= 0)
            throw new IllegalArgumentException('"' + text + "\" is not a duration such as 500ms, 10s, 5m, 1h or 2d");
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
