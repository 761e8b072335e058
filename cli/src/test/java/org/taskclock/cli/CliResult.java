// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The result of running the command line. */
record CliResult(int exitCode, String out, String err) {
    /** Long enough that only a hang exceeds it. */
    static final long TIMEOUT_SECONDS = 60;

    /** Runs the packaged command line in a child process. Arguments that start with -D are passed to the JVM. */
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

    /** Where the command line prints in this JVM: to the thread's own buffers, if it has some. */
    private static final class Capture extends OutputStream {
        static final ThreadLocal<ByteArrayOutputStream[]> BUFFERS = new ThreadLocal<>();

        static {
            Main.standardOutput = new Capture(0, System.out);
            System.setOut(new PrintStream(Main.standardOutput, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(new Capture(1, System.err), true, StandardCharsets.UTF_8));
        }

        private final int index;
        private final PrintStream others;

        private Capture(int index, PrintStream others) {
            this.index = index;
            this.others = others;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            ByteArrayOutputStream[] own = BUFFERS.get();
            (own == null ? others : own[index]).write(bytes, offset, length);
        }
    }

    /**
     * Runs the packaged command line in this JVM, which takes a fraction of the time of a process. For commands whose
     * output is what is tested, and that need no options or environment of their own.
     */
    static CliResult runHere(String... arguments) {
        ByteArrayOutputStream[] buffers = {new ByteArrayOutputStream(), new ByteArrayOutputStream()};
        Capture.BUFFERS.set(buffers);
        try {
            int exitCode = Main.run(arguments);
            return new CliResult(
                    exitCode, buffers[0].toString(StandardCharsets.UTF_8), buffers[1].toString(StandardCharsets.UTF_8));
        } finally {
            Capture.BUFFERS.remove();
        }
    }

    /** Returns java with the options that the launcher sets, without a program. */
    static List<String> java() {
        return new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC"));
    }

    static ProcessBuilder builder(String... arguments) {
        List<String> command = java();
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
