// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs programs in new JVMs of this JDK, with the class path and the standard error of this one. */
final class FreshJvm {
    static final String ALLOWED = "--enable-native-access=ALL-UNNAMED";

    private FreshJvm() {}

    /** Returns the path of a tool of this JDK. */
    static String tool(String name) {
        return Path.of(System.getProperty("java.home"), "bin", name).toString();
    }

    static ProcessBuilder builder(List<String> options, Class<?> program, Object... arguments) {
        List<String> command = new ArrayList<>(List.of(tool("java")));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        for (Object argument : arguments) command.add(argument.toString());
        return new ProcessBuilder(command).redirectError(Redirect.INHERIT);
    }

    /** Runs a program until it exits, and returns the lines that it printed. Throws if its exit code is not 0. */
    static List<String> run(List<String> options, Class<?> program, Object... arguments)
            throws IOException, InterruptedException {
        Process process = builder(options, program, arguments).start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int exitCode = process.waitFor();
        if (exitCode != 0) {
            throw new IOException(program.getSimpleName() + " " + List.of(arguments) + ": exit code " + exitCode
                    + ": see its messages above");
        }
        return printed.lines().toList();
    }

    /** Runs a program with the options of this JVM. */
    static List<String> runAlike(Class<?> program, Object... arguments) throws IOException, InterruptedException {
        List<String> options =
                new ArrayList<>(ManagementFactory.getRuntimeMXBean().getInputArguments());
        options.add(ALLOWED);
        return run(options, program, arguments);
    }
}
