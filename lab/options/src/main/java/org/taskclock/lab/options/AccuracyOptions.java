// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab.options;

import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "accuracy",
        mixinStandardHelpOptions = true,
        description = {
            "Measure the accuracy of user and system time on workloads whose CPU times are known.",
            "Requires the native library."
        })
public final class AccuracyOptions extends ExperimentOptions {
    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = SecondsConverter.class,
            defaultValue = "3s",
            description = "How long to run each of the nine workloads (default: 3s).")
    private double seconds;

    @Option(
            names = "--markdown",
            paramLabel = "FILE",
            description = "Also update the tables between the markers in FILE, such as docs/accuracy.md. Requires -o.")
    public Path markdown;

    @Override
    public double seconds() {
        return seconds;
    }
}
