// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The length and number of intervals, which are options or the arguments INTERVAL and COUNT. */
final class IntervalOptions {
    private static final Duration MAX_INTERVAL = Duration.ofDays(1);

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = {"-d", "--interval"},
            paramLabel = "TIME",
            description = "Length of an interval, such as 500ms, 5s or 2m; a bare number is seconds (default: 1s).")
    private Duration interval;

    @Option(
            names = {"-n", "--count"},
            paramLabel = "COUNT",
            description = "Number of intervals (default: unlimited).")
    private Integer count;

    private boolean isGiven;

    /** Returns whether an argument can only be an interval: it is a decimal fraction, or has a unit. */
    static boolean isInterval(String argument) {
        return argument.matches("[0-9]*\\.[0-9]+|[0-9.]+(ms|s|m|min|h|d)");
    }

    /** Reads the arguments INTERVAL and COUNT, which override the options, and checks the values. */
    void parse(List<String> arguments, Duration min) {
        if (arguments.size() > 2) throw usageError("unexpected argument: " + arguments.get(2));
        if (!arguments.isEmpty()) interval = duration(arguments.get(0));
        if (arguments.size() > 1) count = wholeNumber(arguments.get(1));
        isGiven = interval != null;
        if (interval == null) interval = Duration.ofSeconds(1);
        if (interval.compareTo(min) < 0 || interval.compareTo(MAX_INTERVAL) > 0) {
            throw usageError("interval " + UnitConverters.formatDuration(interval) + ": must be from " + min.toMillis()
                    + "ms to 1d");
        }
        if (count != null && count < 1) throw usageError("count " + count + ": must be at least 1");
    }

    /** Returns whether the command line gives the length of an interval. */
    boolean isGiven() {
        return isGiven;
    }

    Duration interval() {
        return interval;
    }

    /** Returns the number of intervals; 0 for no limit. */
    int count() {
        return count == null ? 0 : count;
    }

    private Duration duration(String text) {
        try {
            return new UnitConverters.DurationConverter().convert(text);
        } catch (TypeConversionException e) {
            throw usageError("interval " + e.getMessage());
        }
    }

    private int wholeNumber(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw usageError("count \"" + text + "\" is not a whole number");
        }
    }

    private ParameterException usageError(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
