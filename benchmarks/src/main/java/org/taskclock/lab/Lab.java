// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;

/** What the command line runs for {@code taskclock bench} and {@code taskclock experiment}, in a JVM with JMH. */
@Command(
        name = "taskclock",
        subcommands = {Experiment.class})
final class Lab implements Runnable {
    private static final int USAGE = 2;

    private Lab() {}

    @Override
    public void run() {}

    public static void main(String[] args) {
        System.exit(new CommandLine(new Lab())
                .setParameterExceptionHandler(Lab::misused)
                .execute(args));
    }

    private static int misused(ParameterException e, String[] args) {
        String command = e.getCommandLine().getCommandSpec().qualifiedName();
        System.err.println("taskclock: " + e.getMessage() + ": see " + command + " --help");
        return USAGE;
    }
}
