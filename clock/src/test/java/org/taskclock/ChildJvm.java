// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.taskclock.internal.JdkVersions;

/**
 * The result of a child JVM. Tests use children for actions that a process performs only once, such as loading the
 * library and selecting the backend.
 */
record ChildJvm(int exit, String out, String err) {
    /** Far above the run time of any child, so that only a child that hangs is destroyed. */
    private static final int LIMIT_SECONDS = 120;

    /** Runs a main class of the tests with the JDK and the class path of this JVM. */
    static ChildJvm run(Class<?> main, String... arguments) {
        return run(List.of(), main, arguments);
    }

    static ChildJvm run(List<String> options, Class<?> main, String... arguments) {
        return run(command(options, main, arguments));
    }

    /**
     * Returns the command that starts such a child, which compiles little and has few threads of its own, because it
     * ends soon. The given options come last, so they take precedence.
     */
    static List<String> command(List<String> options, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(java(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        if (Runtime.version().feature() >= JdkVersions.FOREIGN_FUNCTIONS)
            command.add("--enable-native-access=ALL-UNNAMED");
        for (String name : List.of("test.jar", "test.native", "test.expectedBackend")) {
            String value = System.getProperty(name);
            if (value != null) command.add("-D" + name + "=" + value);
        }
        command.addAll(options);
        command.add(main.getName());
        command.addAll(List.of(arguments));
        return command;
    }

    static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** Runs any command and waits until it exits. */
    static ChildJvm run(List<String> command) {
        try {
            Path out = Files.createTempFile("child", ".out");
            Path err = Files.createTempFile("child", ".err");
            try {
                ProcessBuilder builder =
                        new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
                // The JVM prints a line if one of these is set.
                builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
                Process process = builder.start();
                process.getOutputStream().close();
                boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
                if (!ended) process.destroyForcibly().waitFor();
                ChildJvm child = new ChildJvm(process.exitValue(), Files.readString(out), Files.readString(err));
                if (!ended) throw new AssertionError("no exit after " + LIMIT_SECONDS + " s: " + command + child);
                return child;
            } finally {
                Files.delete(out);
                Files.delete(err);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Throws an error with the child's output if it failed. */
    ChildJvm succeeded() {
        if (exit != 0) throw new AssertionError(toString());
        return this;
    }

    @Override
    public String toString() {
        return "exit " + exit + "\n--- stdout\n" + out + "\n--- stderr\n" + err;
    }
}
