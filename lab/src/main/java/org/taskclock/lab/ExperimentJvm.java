// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.taskclock.monitor.attach.AgentJar;

/** A new JVM, with the class path of this one, that runs a program to measure. */
final class ExperimentJvm {
    private static final long TICK_NANOS = 10_000_000; // the unit in /proc, regardless of the kernel's tick
    private static final int INTERRUPTED = 130;
    private static final int TERMINATED = 143;

    /** Times of a process, as the shell's {@code time} reports them. The CPU times have a resolution of 10 ms. */
    record Times(double realSeconds, double userSeconds, double systemSeconds) {
        double cpuSeconds() {
            return userSeconds + systemSeconds;
        }

        /** Returns the average number of processors in use. */
        double cores() {
            return cpuSeconds() / realSeconds;
        }

        double systemPercent() {
            return 100 * systemSeconds / cpuSeconds();
        }
    }

    private static final Gson GSON = new Gson();

    private final Jdk home;
    private final InterruptHandler interruption;
    private final List<String> launcher = new ArrayList<>();
    private final List<String> options = new ArrayList<>();

    ExperimentJvm(Jdk home, InterruptHandler interruption) {
        this.home = home;
        this.interruption = interruption;
        options.add("--enable-native-access=ALL-UNNAMED");
    }

    ExperimentJvm option(String option) {
        options.add(option);
        return this;
    }

    /** Sets words in front of the command, which start it. */
    void launcher(List<String> words) {
        launcher.addAll(words);
    }

    ExperimentJvm agent(String agentOptions) throws IOException {
        return option("-javaagent:" + AgentJar.find() + "=" + agentOptions);
    }

    /** Adds an agent that does nothing, for comparison: {@link EmptyAgent}. */
    ExperimentJvm emptyAgent() {
        return option("-javaagent:" + System.getProperty("java.class.path"));
    }

    /**
     * Runs a program until it exits. Each line that it prints is JSON of the given type, and passed to a consumer. Only
     * one program may run at a time, because the times include all child processes.
     */
    <T> Times run(Class<T> type, Consumer<? super T> figures, Class<?> main, Object... arguments)
            throws IOException, InterruptedException {
        Path errors = Files.createTempFile("taskclock-", ".err");
        try {
            long[] before = childTicks();
            long start = System.nanoTime();
            Process process = start(errors, main, arguments);
            try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
                String line;
                while ((line = output.readLine()) != null) figures.accept(GSON.fromJson(line, type));
            }
            int exitCode = process.waitFor();
            long nanos = System.nanoTime() - start;
            long[] after = childTicks();
            interruption.running(null);
            // Ctrl-C sends SIGINT to both processes, so the program may exit before our hook runs.
            boolean interrupted = interruption.isInterrupted() || exitCode == INTERRUPTED || exitCode == TERMINATED;
            if (interrupted && exitCode != 0) throw new InterruptedException();
            if (exitCode != 0) throw new LabException(failure(main, exitCode, Files.readString(errors)));
            return new Times(nanos / 1e9, seconds(after[0] - before[0]), seconds(after[1] - before[1]));
        } finally {
            Files.delete(errors);
        }
    }

    /** Starts a program, which an interruption of the experiment kills. */
    Process start(Path errors, Class<?> main, Object... arguments) throws IOException, InterruptedException {
        interruption.check();
        List<String> command = new ArrayList<>(launcher);
        command.add(home.java().toString());
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        for (Object argument : arguments) command.add(argument.toString());
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
        // With these variables, a JVM prints an extra line.
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
        Process process = builder.start();
        interruption.running(process);
        return process;
    }

    static boolean accepts(Jdk home, String option) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(home.java().toString(), option, "-version");
        return builder.redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .waitFor()
                == 0;
    }

    private String failure(Class<?> main, int exitCode, String errors) {
        String first = errors.lines()
                .filter(line -> !line.contains("warning") && !line.isBlank())
                .findFirst()
                .orElse("no output");
        return home + ": " + main.getSimpleName() + ": exit code " + exitCode + ": " + first;
    }

    private static double seconds(long ticks) {
        return ticks * TICK_NANOS / 1e9;
    }

    /** Returns the user and system time of child processes that have ended, in ticks. */
    private static long[] childTicks() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        // The preceding command name may contain spaces and parentheses.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return new long[] {Long.parseLong(fields[13]), Long.parseLong(fields[14])};
    }
}
