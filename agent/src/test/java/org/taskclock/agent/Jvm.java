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

/** A JVM of its own for a program, on the JDK and class path of this one. */
final class Jvm {
    /** Far above what any program takes, so that only one that hangs is destroyed. */
    private static final int LIMIT_SECONDS = 240;

    /** How a program ended. */
    record End(int exit, String out, String err) {
        /** That it ended well, and that nothing but what it printed itself was printed. */
        End silently() {
            assertThat(this).isEqualTo(new End(0, out, ""));
            return this;
        }
    }

    private final List<String> options = new ArrayList<>();
    private List<String> before = List.of();
    private String classPath = System.getProperty("java.class.path");

    static int feature() {
        return Runtime.version().feature();
    }

    /** With the agent from the start. */
    static Jvm with(String agentOptions) {
        return new Jvm().option("-javaagent:" + System.getProperty("agent.jar") + "=" + agentOptions);
    }

    /** As it is. */
    static Jvm plain() {
        return new Jvm();
    }

    Jvm option(String... more) {
        options.addAll(List.of(more));
        return this;
    }

    Jvm classPath(String path) {
        classPath = path;
        return this;
    }

    /** Started by another program: its name and arguments. */
    Jvm behind(List<String> command) {
        before = command;
        return this;
    }

    Process start(Path out, Path err, Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(before);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, main.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        // With these a JVM prints a line of its own.
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
        return builder.start();
    }

    End run(Class<?> main, String... arguments) throws IOException, InterruptedException {
        Path out = Files.createTempFile("child", ".out");
        Path err = Files.createTempFile("child", ".err");
        try {
            Process process = start(out, err, main, arguments);
            process.getOutputStream().close();
            boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
            if (!ended) process.destroyForcibly().waitFor();
            End end = new End(process.exitValue(), Files.readString(out), Files.readString(err));
            if (!ended) throw new AssertionError("not ended after " + LIMIT_SECONDS + " s: " + end);
            return end;
        } finally {
            Files.delete(out);
            Files.delete(err);
        }
    }
}
