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
        description = "Repeat published experiments on this machine and check their claims.",
        subcommands = {
            YieldExperiment.class,
            YieldALotExperiment.class,
            CarriersExperiment.class,
            AccuracyExperiment.class,
            OverheadExperiment.class
        },
        footer = {
            "",
            "Ctrl-C ends an experiment and keeps the measurements so far.",
            "",
            "Exit codes: 0 success, 1 failure or incomplete result, 2 usage error."
        })
public final class Experiment implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    /** Constructed by picocli. */
    public Experiment() {}

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "missing experiment");
    }
}
