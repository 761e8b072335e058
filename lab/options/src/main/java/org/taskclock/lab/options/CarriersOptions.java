// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab.options;

import org.taskclock.internal.JdkVersions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "carriers",
        mixinStandardHelpOptions = true,
        description = {
            "Measure which carriers one yielding virtual thread runs on, and the CPU time on each.",
            "Requires JDK " + JdkVersions.VIRTUAL_THREADS + " or later."
        })
public final class CarriersOptions extends ExperimentOptions {
    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = SecondsConverter.class,
            defaultValue = "3s",
            description = "How long to yield (default: 3s).")
    private double seconds;

    @Override
    public double seconds() {
        return seconds;
    }
}
