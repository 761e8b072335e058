// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab.options;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "yield-a-lot",
        mixinStandardHelpOptions = true,
        description = "Measure one platform thread that only yields, with and without silencing its yields.")
public final class YieldALotOptions extends ExperimentOptions {
    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = SecondsConverter.class,
            defaultValue = "3s",
            description = "How long to run each program (default: 3s; the newsletter used 1s).")
    private double seconds;

    @Override
    public double seconds() {
        return seconds;
    }
}
