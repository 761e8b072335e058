// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.concurrent.Callable;
import org.taskclock.lab.options.ExperimentsOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "experiment",
        subcommands = {
            YieldExperiment.class,
            YieldALotExperiment.class,
            CarriersExperiment.class,
            AccuracyExperiment.class,
            OverheadExperiment.class,
            ZooExperiment.class
        })
public final class Experiment extends ExperimentsOptions implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "missing experiment");
    }
}
