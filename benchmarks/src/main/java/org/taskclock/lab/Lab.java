// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;

/** What the command line runs for {@code taskclock bench} and {@code taskclock experiment}, in a JVM with JMH. */
@Command(
        name = "taskclock",
        subcommands = {Bench.class, Experiment.class})
final class Lab implements Runnable {
    static final int OK = 0;
    static final int FAILED = 1;
    static final int USAGE = 2;

    private Lab() {}

    @Override
    public void run() {}

    public static void main(String[] args) {
        System.exit(execute(args));
    }

    static int execute(String... args) {
        return new CommandLine(new Lab())
                .setParameterExceptionHandler(Lab::misused)
                .setExecutionExceptionHandler((e, command, parsed) ->
                        failed(e, command.getCommandSpec().name()))
                .execute(args);
    }

    private static int misused(ParameterException e, String[] args) {
        return complain(
                e.getMessage() + ": see " + e.getCommandLine().getCommandSpec().qualifiedName() + " --help", USAGE);
    }

    private static int failed(Exception e, String command) {
        if (Boolean.getBoolean("taskclock.debug")) e.printStackTrace();
        if (e instanceof IllegalArgumentException) return complain(command + ": " + e.getMessage(), USAGE);
        if (e instanceof IOException) return complain(command + ": input or output: " + e.getMessage(), FAILED);
        return complain(
                command + ": internal error: " + e + ": -Dtaskclock.debug=true shows where; please report it", FAILED);
    }

    static int complain(String message, int exitCode) {
        System.err.println("taskclock: " + message);
        return exitCode;
    }
}
