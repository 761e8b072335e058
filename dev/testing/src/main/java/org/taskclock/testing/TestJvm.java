// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a program in a child JVM, on the JDK and class path of this one. */
public final class TestJvm {
    /** Far longer than any program takes, so that only a hung program is killed. */
    private static final int TIMEOUT_SECONDS = 240;

    private TestJvm() {}

    /** Returns the option that loads TaskClock's agent, which the system property {@code agent.jar} names. */
    public static String agent(String options) {
        return "-javaagent:" + System.getProperty("agent.jar") + "=" + options;
    }

    /** The JVM prints the stacks of its threads, which then are part of the output. */
    private static void dumpThreadsAndKill(Process process) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid()))
                .inheritIO()
                .start()
                .waitFor();
        boolean endedMeanwhile = process.waitFor(5, TimeUnit.SECONDS);
        if (!endedMeanwhile) process.destroyForcibly().waitFor();
    }

    /**
     * Runs the main method of a class and returns what the JVM printed to both streams.
     *
     * @throws AssertionError with the output, if the exit code is not 0
     */
    public static String run(List<String> options, Class<?> main, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        Path out = Files.createTempFile("child", ".out");
        try {
            ProcessBuilder builder =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile());
            // If these variables are set, the JVM prints a line about them.
            builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
            Process process = builder.start();
            process.getOutputStream().close();
            boolean ended = process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            if (!ended) dumpThreadsAndKill(process);
            String output = Files.readString(out);
            if (!ended) throw new AssertionError("still running after " + TIMEOUT_SECONDS + " s: " + output);
            if (process.exitValue() != 0) throw new AssertionError("exit " + process.exitValue() + ": " + output);
            return output;
        } finally {
            Files.delete(out);
        }
    }
}
