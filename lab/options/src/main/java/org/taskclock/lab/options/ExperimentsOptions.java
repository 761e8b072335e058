// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab.options;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The command {@code experiment}, without its experiments. */
@Command(
        name = "experiment",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "EXPERIMENT",
        description = "Repeat published experiments on this machine and check their claims.",
        footer = {
            "",
            "Ctrl-C ends an experiment and keeps the measurements so far.",
            "",
            "Exit codes: 0 success, 1 failure or incomplete result, 2 usage error."
        })
public class ExperimentsOptions {
    /** Returns the command with all experiments, for a text that lists their options. It cannot be executed. */
    public static CommandLine describe() {
        CommandLine command = new CommandLine(new ExperimentsOptions());
        for (ExperimentOptions experiment : List.of(
                new YieldOptions(),
                new YieldALotOptions(),
                new CarriersOptions(),
                new AccuracyOptions(),
                new OverheadOptions(),
                new ZooOptions())) {
            command.addSubcommand(experiment);
        }
        return command;
    }
}
