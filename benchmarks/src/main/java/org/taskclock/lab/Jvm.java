// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A JVM of its own for a program that is measured, with the class path of this one. */
final class Jvm {
    private static final long TICK_NANOS = 10_000_000; // of /proc, whatever the kernel's is
    private static final String AGENT = "taskclock-agent.jar";
    private static final int INTERRUPTED = 130;
    private static final int TERMINATED = 143;

    /** As the shell's {@code time} tells it, user and system to 10 ms. */
    record Times(double realSeconds, double userSeconds, double systemSeconds) {
        double cpuSeconds() {
            return userSeconds + systemSeconds;
        }

        /** Processors in use, in the mean. */
        double cores() {
            return cpuSeconds() / realSeconds;
        }

        double systemPercent() {
            return 100 * systemSeconds / cpuSeconds();
        }
    }

    private final Jdk home;
    private final List<String> options = new ArrayList<>();

    Jvm(Jdk home) {
        this.home = home;
        options.add("--enable-native-access=ALL-UNNAMED");
    }

    Jvm option(String option) {
        options.add(option);
        return this;
    }

    Jvm agent(String agentOptions) throws LabException {
        return option("-javaagent:" + besideJar(AGENT) + "=" + agentOptions);
    }

    /** A jar that does nothing as an agent. */
    Jvm emptyAgent() throws LabException {
        return option("-javaagent:" + besideJar("benchmarks.jar"));
    }

    /** Before anything is measured. */
    static void checkAgent() throws LabException {
        besideJar(AGENT);
    }

    private static Path besideJar(String name) throws LabException {
        Path jar = Path.of(System.getProperty("java.class.path").split(File.pathSeparator, 2)[0])
                .toAbsolutePath()
                .resolveSibling(name);
        if (Files.isReadable(jar)) return jar;
        throw new LabException("agent: no " + jar + ": build it: mvn -DskipTests package -pl benchmarks -am");
    }

    /** Runs a program to its end, and hands on each line that it prints. One at a time, or the times would be of all. */
    Times run(Interruption interruption, Consumer<String> lines, Class<?> main, String... arguments)
            throws LabException, Interruption.Cut, IOException, InterruptedException {
        interruption.check();
        Path errors = Files.createTempFile("taskclock-", ".err");
        try {
            long[] before = ofChildren();
            long start = System.nanoTime();
            Process process = start(errors, main, arguments);
            interruption.running(process);
            try (BufferedReader from = process.inputReader(StandardCharsets.UTF_8)) {
                String line;
                while ((line = from.readLine()) != null) lines.accept(line);
            }
            int exitCode = process.waitFor();
            long nanos = System.nanoTime() - start;
            long[] after = ofChildren();
            interruption.running(null);
            // The terminal tells the program and us alike: it may have ended before we know.
            boolean cut = interruption.hasCome() || exitCode == INTERRUPTED || exitCode == TERMINATED;
            if (cut && exitCode != 0) throw new Interruption.Cut();
            if (exitCode != 0) throw new LabException(failed(main, exitCode, Files.readString(errors)));
            return new Times(nanos / 1e9, seconds(after[0] - before[0]), seconds(after[1] - before[1]));
        } finally {
            Files.delete(errors);
        }
    }

    private Process start(Path errors, Class<?> main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(home.java().toString()));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
        // With these a JVM prints a line of its own.
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
        return builder.start();
    }

    /** Whether this JDK's JVM knows an option. */
    static boolean accepts(Jdk home, String option) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(home.java().toString(), option, "-version");
        return builder.redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .waitFor()
                == 0;
    }

    private String failed(Class<?> main, int exitCode, String errors) {
        String first = errors.lines()
                .filter(line -> !line.contains("warning") && !line.isBlank())
                .findFirst()
                .orElse("it printed nothing");
        return home + ": " + main.getSimpleName() + " ended with exit code " + exitCode + ": " + first;
    }

    private static double seconds(long ticks) {
        return ticks * TICK_NANOS / 1e9;
    }

    /** User and system time of children that have ended, in ticks: the kernel adds to it what getrusage would say. */
    private static long[] ofChildren() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        // The name before may hold blanks and parentheses.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return new long[] {Long.parseLong(fields[13]), Long.parseLong(fields[14])};
    }
}
