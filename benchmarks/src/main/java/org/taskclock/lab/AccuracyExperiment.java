// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.List;
import picocli.CommandLine.Command;

@Command(name = "accuracy", mixinStandardHelpOptions = true, description = "...")
final class AccuracyExperiment extends ExperimentCommand {
    @Override
    int steps(List<JavaHome> homes) {
        return 0;
    }

    @Override
    void measure(List<JavaHome> homes) {}

    @Override
    void report(Report report) {}
}
