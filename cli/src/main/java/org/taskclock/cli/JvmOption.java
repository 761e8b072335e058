// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The JVM that a command refers to, by process id, name, or command line. */
final class JvmOption {
    static final String MATCH_DESCRIPTION =
            "Select the JVM whose command line contains TEXT, ignoring case, instead of PID|NAME.";

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "PID|NAME",
            description = "Process id, or part of the program's name, ignoring case. taskclock list shows both.")
    private String argument;

    @Option(names = "--match", paramLabel = "TEXT", description = MATCH_DESCRIPTION)
    private String match;

    /** Returns the process id or name that was given, for the history, in which command lines are unknown. */
    String name() throws CommandException {
        if (match != null)
            throw new CommandException(Main.USAGE, "--match cannot be combined with --from: give a name");
        if (argument == null) throw new CommandException(Main.USAGE, "no JVM is specified: add PID|NAME");
        return argument;
    }

    /** Returns the process id of the only JVM that matches. */
    long select() throws CommandException {
        if (match != null && argument != null)
            throw new CommandException(Main.USAGE, "PID|NAME and --match cannot be combined: remove " + argument);
        return selectBeforeArguments();
    }

    /** Does the same for a command that has more arguments, which {@link #arguments} returns. */
    long selectBeforeArguments() throws CommandException {
        if (match != null) return new JvmQuery(match, true).select();
        if (argument == null)
            throw new CommandException(Main.USAGE, "no JVM is specified: add PID|NAME, or --match TEXT");
        return JvmQuery.of(argument).select();
    }

    /** Returns the arguments after the JVM. With --match, these are all arguments. */
    List<String> arguments(List<String> others) {
        List<String> all = new ArrayList<>(others);
        if (match != null && argument != null) all.add(0, argument);
        return all;
    }
}
