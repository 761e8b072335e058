// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab.options;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "zoo",
        mixinStandardHelpOptions = true,
        description = {
            "Run programs that misbehave in known ways, and compare what TaskClock says with what is known.",
            "Each program works normally at first, and then misbehaves. Its cause, its threads, and the second in which"
                    + " it begins are known."
        })
public final class ZooOptions extends ExperimentOptions {
    @Option(
            names = "--only",
            paramLabel = "NAME",
            split = ",",
            description = "Run only these programs, separated by commas (default: all).")
    public List<String> only = new ArrayList<>();

    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = SecondsConverter.class,
            defaultValue = "15s",
            description = "How long each program misbehaves, after two thirds of that time of normal work (default:"
                    + " 15s).")
    private double seconds;

    @Option(
            names = "--tools",
            paramLabel = "SCRIPT",
            description =
                    "Run each program a second time, call SCRIPT with its process id while it misbehaves, and judge"
                            + " the tools in its output. In a checkout: lab/zoo-tools.sh.")
    public Path tools;

    @Option(names = "--raw", paramLabel = "DIR", description = "Write what each tool printed to DIR/JDK/PROGRAM.txt.")
    public Path raw;

    @Override
    public double seconds() {
        return seconds;
    }

    @Override
    public List<String> arguments() {
        List<String> arguments = new ArrayList<>(super.arguments());
        if (!only.isEmpty()) arguments.addAll(List.of("--only", String.join(",", only)));
        if (tools != null)
            arguments.addAll(List.of("--tools", tools.getFileName().toString()));
        return arguments;
    }
}
