// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.GsonBuilder;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.taskclock.Backend;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;
import org.taskclock.monitor.attach.AgentJar;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.proc.TemporaryFolderException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "time",
        customSynopsis = {
            "taskclock time [-qhV] [--no-agent] [--no-virtual] [--json=FILE] [-o=FILE]",
            "                      [--] COMMAND [ARGUMENT...]"
        },
        description = {
            "Run a command and print its real, user and system time when it exits, like time(1).",
            "For each JVM that ran, including those started by a wrapper script, also print the CPU time of thread"
                    + " pools, the garbage collector, the JIT compiler and virtual threads, and the cost of"
                    + " Thread.yield.",
            "The report goes to standard error. Input, output, signals and the exit code are those of the command."
        },
        footer = {
            "",
            "If the command is java, the agent is loaded with a java option. Otherwise it is loaded through"
                    + " JAVA_TOOL_OPTIONS, which makes each JVM print a line to standard error; --no-agent"
                    + " avoids that.",
            "",
            "Examples:",
            "  taskclock time -- java -jar app.jar",
            "  taskclock time --json times.json -- ./gradlew --no-daemon build",
            "",
            "Exit codes: that of the command; 128 + N if signal N killed it; 126 if it cannot be run; 127 if it is not"
                    + " found; 2 usage error; 1 if --json or --output cannot be written."
        })
final class TimeCommand implements Callable<Integer> {
    private static final int CANNOT_RUN = 126;
    private static final int NOT_FOUND = 127;
    private static final String RSEQ_TUNABLE = "glibc.pthread.rseq=0";

    @Parameters(arity = "1..*", paramLabel = "COMMAND", description = "Command to run, with its arguments.")
    private List<String> command;

    @Option(
            names = "--no-agent",
            description = "Do not load the agent: no virtual threads, no yield counts, names truncated to 15"
                    + " characters.")
    private boolean noAgent;

    @Option(names = "--no-virtual", description = "Do not account for virtual threads. Saves about 15 ms at startup.")
    private boolean noVirtual;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the complete results as JSON.")
    private Path json;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Write the report to a file instead of standard error.")
    private Path output;

    @Option(
            names = {"-q", "--quiet"},
            description = "Do not print the report, for use with --json.")
    private boolean quiet;

    /** The times of the command, including its descendants that were waited for. */
    record Times(long realNanos, long userNanos, long systemNanos) {}

    /** The content of the --json file. */
    record Result(
            String format, List<String> command, int exitCode, Times times, List<JvmUsage> jvms, List<String> notes) {}

    @Override
    public Integer call() throws IOException {
        Path directory;
        try {
            directory = Files.createTempDirectory("taskclock-time-");
        } catch (IOException e) {
            throw TemporaryFolderException.of(e);
        }
        // The command may switch to another user, who may create files here but not list them.
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx-wx-wx"));
        try {
            return run(directory);
        } finally {
            delete(directory);
        }
    }

    private int run(Path directory) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        if (!noAgent) addAgent(builder, directory);
        enableRseqOwn(builder.environment());
        Times before = readChildren();
        long start = System.nanoTime();
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            boolean exists = !String.valueOf(e.getMessage()).contains("No such file");
            return Main.fail(
                    "time: " + command.get(0) + ": " + (exists ? "cannot be run" : "not found"),
                    exists ? CANNOT_RUN : NOT_FOUND);
        }
        SignalForwarder.install(process);
        DescendantSampler sampler = new DescendantSampler(process.toHandle());
        int exitCode = waitFor(process);
        long realNanos = System.nanoTime() - start;
        List<JvmUsage> sampled = sampler.stop();
        Times after = readChildren();
        Times times = new Times(realNanos, after.userNanos - before.userNanos, after.systemNanos - before.systemNanos);
        List<String> notes = new ArrayList<>();
        List<JvmUsage> jvms = merge(readReports(directory, notes), sampled, notes);
        Result result = new Result("taskclock-time/1", command, exitCode, times, jvms, notes);
        Path file = json;
        try {
            if (json != null) {
                String text = new GsonBuilder()
                        .setPrettyPrinting()
                        .disableHtmlEscaping()
                        .create()
                        .toJson(result);
                write(json, text + "\n");
            }
            String text = TimeText.of(result);
            file = output;
            if (output != null) write(output, text);
            else if (!quiet) System.err.print(text);
        } catch (IOException e) {
            return Main.fail("time: " + file + ": " + RecordCommand.describe(e), Main.FAILED);
        }
        return exitCode;
    }

    private static void write(Path file, String text) throws IOException {
        // writeString fails if a name contains half of a surrogate pair.
        Files.write(file, text.getBytes(StandardCharsets.UTF_8));
    }

    static int waitFor(Process process) {
        while (true) {
            try {
                return process.waitFor();
            } catch (InterruptedException e) {
                // Keep waiting until the command exits.
                Thread.interrupted();
            }
        }
    }

    private void addAgent(ProcessBuilder builder, Path directory) throws IOException {
        String options = "threadmxbean=off,bean=off,jfr=off,yield=count," + (noVirtual ? "vthreads=off," : "")
                + "summary=" + directory;
        String agent = "-javaagent:" + AgentJar.find() + "=" + options;
        if (new File(command.get(0)).getName().equals("java")) {
            List<String> withAgent = new ArrayList<>(command);
            withAgent.add(1, agent);
            builder.command(withAgent);
        } else {
            builder.environment().merge("JAVA_TOOL_OPTIONS", agent, (existing, added) -> existing + " " + added);
        }
    }

    /** Disables glibc's rseq registration if rseq-own would then be the only backend that needs no system call. */
    private static void enableRseqOwn(Map<String, String> environment) {
        boolean usable = false;
        for (ClockStatus.Verdict verdict : TaskClock.status().backends()) {
            if (verdict.backend() == Backend.RSEQ && verdict.usable()) return;
            if (verdict.backend() == Backend.RSEQ_OWN)
                usable = verdict.usable() || verdict.reason().contains(RSEQ_TUNABLE);
        }
        // The probe of rseq-own fails on 6.19, and earlier kernels support rseq.
        boolean hasKernelSupport = !System.getProperty("os.version").matches("[3-6]\\..*");
        if (usable && hasKernelSupport)
            environment.merge("GLIBC_TUNABLES", RSEQ_TUNABLE, (existing, added) -> existing + ":" + added);
    }

    /** Reads the CPU times of this process's descendants that were waited for, as in RUSAGE_CHILDREN, from /proc. */
    private static Times readChildren() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        // Fields 16 and 17; fields[0] is field 3. The unit is 1/100 s on every kernel.
        return new Times(0, Long.parseLong(fields[13]) * 10_000_000, Long.parseLong(fields[14]) * 10_000_000);
    }

    private static Map<Long, JvmUsage> readReports(Path directory, List<String> notes) throws IOException {
        Map<Long, JvmUsage> reported = new HashMap<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (!file.toString().endsWith(".json")) continue;
                try {
                    AgentReport report = AgentReport.parse(Files.readString(file));
                    reported.put(report.pid(), JvmUsage.of(report));
                    if (report.truncated())
                        notes.add("JVM " + report.pid() + ": too many names or call sites: the rest are in (other)");
                } catch (IOException e) {
                    notes.add(file.getFileName() + ": " + e.getMessage());
                }
            }
        }
        return reported;
    }

    /** Combines the agents' reports with the samples of JVMs that have no report. */
    private List<JvmUsage> merge(Map<Long, JvmUsage> reported, List<JvmUsage> sampled, List<String> notes) {
        List<JvmUsage> all = new ArrayList<>(reported.values());
        for (JvmUsage usage : sampled) {
            if (reported.containsKey(usage.pid())) continue;
            all.add(usage);
            if (!noAgent)
                notes.add("JVM " + usage.pid() + ": killed before the agent could report, or ran without the agent:"
                        + " sampled from /proc");
        }
        all.sort((a, b) -> Long.compare(b.cpuNanos(), a.cpuNanos()));
        return all;
    }

    private static void delete(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : (Iterable<Path>) files::iterator) Files.deleteIfExists(file);
            Files.delete(directory);
        } catch (IOException e) {
            System.err.println("taskclock: time: " + directory + " cannot be removed: " + e.getMessage());
        }
    }
}
