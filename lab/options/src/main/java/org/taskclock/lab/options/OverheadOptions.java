// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab.options;

import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "overhead",
        mixinStandardHelpOptions = true,
        description = {
            "Measure the overhead of readings and of the agent's accounting.",
            "Measures a program with 100,000 context switches per second on each backend, a server with and without"
                    + " accounting for its virtual threads, and single readings after different amounts of work.",
            "Requires the native library."
        })
public final class OverheadOptions extends ExperimentOptions {
    /** A part that --only selects. */
    public enum Part {
        SWITCHES,
        SERVER,
        /** The server in one JVM, with accounting switched on and off. */
        SWITCHED,
        READING;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Option(
            names = "--only",
            paramLabel = "PART",
            split = ",",
            description = "Measure only these parts, separated by commas: ${COMPLETION-CANDIDATES}.")
    public Set<Part> only = EnumSet.allOf(Part.class);

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "5",
            description = "Measure everything N times, in alternation (default: 5).")
    public int rounds;

    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = SecondsConverter.class,
            defaultValue = "1s",
            description = "How long to warm up each server, and then how long to measure it (default: 1s).")
    private double seconds;

    @Option(
            names = "--windows",
            paramLabel = "N",
            defaultValue = "300",
            description = "For part switched: measure N windows of 0.2 s, half of them with accounting (default: 300).")
    public int windows;

    @Override
    public double seconds() {
        return seconds;
    }

    @Override
    public List<String> arguments() {
        return List.of(
                "--only",
                only.stream().map(Part::toString).collect(Collectors.joining(",")),
                "--rounds",
                Integer.toString(rounds),
                "--for",
                seconds + "s",
                "--windows",
                Integer.toString(windows));
    }
}
