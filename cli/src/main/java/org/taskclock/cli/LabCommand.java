// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.taskclock.lab.options.BenchOptions;
import org.taskclock.lab.options.ExperimentsOptions;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * A command of the lab, whose jar is separate because few users measure the clock itself. Passes all arguments to that
 * jar, in a JVM with the options of this one. Without the jar, it can only print its help.
 */
abstract class LabCommand implements Callable<Integer> {
    static final String JAR = "taskclock-lab.jar";
    private static final String PROPERTY = "taskclock.lab.jar";
    private static final String WHERE = "In the source tree, ./taskclock builds the lab first. Elsewhere, this needs "
            + JAR + " next to the command line's jar, or -D" + PROPERTY + "=FILE in TASKCLOCK_JAVA_OPTS.";

    @Spec
    private CommandSpec spec;

    @Parameters(arity = "0..*", paramLabel = "ARGUMENT", description = "Arguments; --help lists them.")
    private List<String> arguments = new ArrayList<>();

    @Command(
            name = "bench",
            description = {
                "Measure the cost of reading CPU time with JMH, and compare it with every published figure.",
                WHERE
            })
    static final class Bench extends LabCommand {
        @Override
        CommandSpec options() {
            return CommandSpec.forAnnotatedObject(new BenchOptions());
        }
    }

    @Command(
            name = "experiment",
            description = {"Repeat published experiments on this machine and check their claims.", WHERE})
    static final class Experiment extends LabCommand {
        @Override
        CommandSpec options() {
            return ExperimentsOptions.describe().getCommandSpec();
        }
    }

    abstract CommandSpec options();

    /**
     * Replaces the parameter for any arguments by the lab's options, for a text that lists them. Usually, they are left
     * to the lab's jar, because creating them would delay the start of every command.
     */
    static void describeOptions(CommandLine main) {
        for (CommandLine command : main.getSubcommands().values()) {
            if (command.getCommand() instanceof LabCommand lab) lab.describeOptions();
        }
    }

    private void describeOptions() {
        spec.remove(spec.positionalParameters().get(0));
        spec.addMixin("options", options());
        spec.commandLine().setStopAtPositional(false).setUnmatchedOptionsArePositionalParams(false);
    }

    @Override
    public Integer call() throws IOException {
        String given = System.getProperty(PROPERTY);
        Path own = ownJar();
        // Next to it, or in the source tree.
        Path jar = given != null
                ? Path.of(given)
                : Stream.of(JAR, "../../lab/target/" + JAR)
                        .map(own::resolveSibling)
                        .filter(Files::isRegularFile)
                        .findFirst()
                        .orElse(null);
        if (jar == null && !Collections.disjoint(arguments, Set.of("-h", "--help"))) {
            describeOptions();
            CommandLine.executeHelpRequest(spec.commandLine().parseArgs(arguments.toArray(String[]::new)));
            return Main.OK;
        }
        if (jar == null)
            return Main.fail(
                    spec.name() + ": no " + JAR + " next to " + own + ": copy it there from the release, or run"
                            + " ./taskclock " + spec.name() + " in the source tree",
                    Main.FAILED);
        if (!Files.isRegularFile(jar))
            return Main.fail("-D" + PROPERTY + "=" + given + ": no such file: specify a " + JAR, Main.USAGE);
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        if (Main.isDumbTerminal()) command.add("-Dpicocli.ansi=false");
        command.addAll(List.of("-jar", jar.toString(), spec.name()));
        command.addAll(arguments);
        Process process = new ProcessBuilder(command).inheritIO().start();
        SignalForwarder.install(process);
        return TimeCommand.waitFor(process);
    }

    private static Path ownJar() {
        try {
            return Path.of(LabCommand.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toAbsolutePath();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
