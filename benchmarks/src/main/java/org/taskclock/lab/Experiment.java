// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "experiment",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "EXPERIMENT",
        description = "Measures on this machine what others found on theirs, and says whether it holds here.",
        subcommands = {
            YieldExperiment.class,
            YieldALotExperiment.class,
            CarriersExperiment.class,
            AccuracyExperiment.class,
            OverheadExperiment.class
        },
        footer = {
            "",
            "Ctrl-C ends an experiment and keeps what was measured.",
            "",
            "Exit codes: 0 all was measured, 1 not all, 2 wrong usage."
        })
final class Experiment implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "experiment: which one is missing");
    }
}
