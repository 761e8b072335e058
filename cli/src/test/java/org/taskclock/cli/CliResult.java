// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The result of running the packaged command line in a child process. */
record CliResult(int exitCode, String out, String err) {
    /** Long enough that only a hang exceeds it. */
    static final long TIMEOUT_SECONDS = 60;

    /** Runs the command line until it exits. Arguments that start with -D are passed to the JVM. */
    static CliResult run(String... arguments) throws IOException, InterruptedException {
        Path out = Files.createTempFile("taskclock-out", null);
        Path err = Files.createTempFile("taskclock-err", null);
        try {
            Process process = builder(arguments)
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
            return new CliResult(exitCode(process), Files.readString(out), Files.readString(err));
        } finally {
            Files.delete(out);
            Files.delete(err);
        }
    }

    static ProcessBuilder builder(String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // As the launcher does.
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        for (String argument : arguments) if (argument.startsWith("-D")) command.add(argument);
        command.add("-jar");
        command.add(System.getProperty("cli.jar"));
        for (String argument : arguments) if (!argument.startsWith("-D")) command.add(argument);
        return new ProcessBuilder(command);
    }

    static int exitCode(Process process) throws InterruptedException {
        if (process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) return process.exitValue();
        process.destroyForcibly();
        throw new AssertionError("still running after " + TIMEOUT_SECONDS + " s");
    }
}
