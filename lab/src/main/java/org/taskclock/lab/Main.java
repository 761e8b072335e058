// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Runs {@code taskclock bench} and {@code taskclock experiment}. */
@Command(
        name = "taskclock",
        subcommands = {Bench.class, Experiment.class})
public final class Main {
    private static final int FAILED = 1;
    private static final int USAGE = 2;

    private Main() {}

    /** Exits with the exit code of the command. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Main())
                .setParameterExceptionHandler((e, unused) -> {
                    String command = e.getCommandLine().getCommandSpec().qualifiedName();
                    return fail(e.getMessage() + ": see " + command + " --help", USAGE);
                })
                .setExecutionExceptionHandler((e, command, unused) -> fail(e, command.getCommandName()))
                .execute(args));
    }

    private static int fail(Exception e, String command) {
        if (Boolean.getBoolean("taskclock.debug")) e.printStackTrace();
        String message = String.valueOf(e.getMessage());
        if (message.startsWith("-Dtaskclock.")) return fail(message, USAGE); // of a backend that cannot be used
        if (e instanceof NoSuchFileException) return fail(message + ": no such file or directory", FAILED);
        return fail(command + ": " + (e instanceof IOException ? message : "internal error: " + e), FAILED);
    }

    private static int fail(String message, int exitCode) {
        System.err.println("taskclock: " + message);
        return exitCode;
    }
}
