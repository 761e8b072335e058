// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab.options;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.internal.JdkVersions;
import picocli.CommandLine.Option;

/** The options that all experiments have. */
public abstract class ExperimentOptions {
    @Option(
            names = "--jdk",
            paramLabel = "PATH",
            description = "JDK to measure, " + JdkVersions.OLDEST
                    + " or later; repeatable (default: all JDKs in /usr/lib/jvm).")
    public List<Path> jdks = new ArrayList<>();

    @Option(names = "--json", description = "Print only the result, as JSON.")
    public boolean json;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Write the result to FILE, for taskclock report.")
    public Path output;

    ExperimentOptions() {}

    /** Returns how long one measurement takes. */
    public abstract double seconds();

    /** Returns the options that affect the measurements, as arguments. */
    public List<String> arguments() {
        return List.of("--for", seconds() + "s");
    }
}
