// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.taskclock.internal.JdkVersions;

/**
 * Runs a program in a separate JVM, on the JDK and class path of this one. It compiles little, because it ends soon,
 * and uses the serial collector unless an option selects another one.
 */
final class JvmLauncher {
    /** Far longer than any program takes, so that only a hung program is killed. */
    private static final int TIMEOUT_SECONDS = 240;

    /** The exit code and the output of a program. */
    record Result(int exit, String out, String err) {
        /** Asserts that the program succeeded and that stderr is empty. */
        Result assertSilent() {
            assertThat(this).isEqualTo(new Result(0, out, ""));
            return this;
        }
    }

    private final List<String> options = new ArrayList<>();
    private List<String> wrapper = List.of();
    private String classPath = System.getProperty("java.class.path");

    static int feature() {
        return Runtime.version().feature();
    }

    /** Returns a launcher that starts the JVM with the agent. */
    static JvmLauncher withAgent(String agentOptions) {
        return new JvmLauncher().option("-javaagent:" + System.getProperty("agent.jar") + "=" + agentOptions);
    }

    static JvmLauncher withoutAgent() {
        return new JvmLauncher();
    }

    JvmLauncher option(String... more) {
        options.addAll(List.of(more));
        return this;
    }

    JvmLauncher classPath(String path) {
        classPath = path;
        return this;
    }

    /** Lets the program use the library without a warning. */
    JvmLauncher usingLibrary() {
        return feature() >= JdkVersions.FOREIGN_FUNCTIONS ? option("--enable-native-access=ALL-UNNAMED") : this;
    }

    /** Also lets the second compiler compile what the program calls often. */
    JvmLauncher optimizing() {
        return option("-XX:TieredStopAtLevel=4");
    }

    /** Starts the JVM through another program, which is given with its arguments. */
    JvmLauncher wrappedBy(List<String> command) {
        wrapper = command;
        return this;
    }

    Process start(Path out, Path err, Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(wrapper);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:TieredStopAtLevel=1");
        if (options.stream().noneMatch(option -> option.matches("-XX:\\+Use\\w+GC"))) command.add("-XX:+UseSerialGC");
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, main.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        // If these variables are set, the JVM prints a line about them.
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
        return builder.start();
    }

    Result run(Class<?> main, String... arguments) throws IOException, InterruptedException {
        Path out = Files.createTempFile("child", ".out");
        Path err = Files.createTempFile("child", ".err");
        try {
            Process process = start(out, err, main, arguments);
            process.getOutputStream().close();
            boolean ended = process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            if (!ended) process.destroyForcibly().waitFor();
            Result result = new Result(process.exitValue(), Files.readString(out), Files.readString(err));
            if (!ended) throw new AssertionError("still running after " + TIMEOUT_SECONDS + " s: " + result);
            return result;
        } finally {
            Files.delete(out);
            Files.delete(err);
        }
    }
}
