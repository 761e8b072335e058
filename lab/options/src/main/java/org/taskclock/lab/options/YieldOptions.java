// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab.options;

import org.taskclock.internal.JdkVersions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "yield",
        mixinStandardHelpOptions = true,
        description = {
            "Measure the cost of Thread.yield.",
            "Platform and virtual threads, one or one per processor, count even numbers with and without yielding after"
                    + " each. Runs about 16 programs per JDK. Virtual threads need JDK " + JdkVersions.VIRTUAL_THREADS
                    + "."
        })
public final class YieldOptions extends ExperimentOptions {
    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = SecondsConverter.class,
            defaultValue = "5s",
            description = "How long to run each program (default: 5s; the newsletter used 10.3s).")
    private double seconds;

    @Override
    public double seconds() {
        return seconds;
    }
}
