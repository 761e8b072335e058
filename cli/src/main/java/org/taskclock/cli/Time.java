// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.GsonBuilder;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.taskclock.ClockStatus;
import org.taskclock.Rung;
import org.taskclock.TaskClock;
import org.taskclock.watch.AgentReport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "time",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        customSynopsis =
                "taskclock time [-qhV] [--no-agent] [--no-virtual] [--json=FILE] [-o=FILE] [--] COMMAND [ARGUMENT...]",
        description = {
            "Runs a command, and tells at its end, on standard error, real, user and system time as time does; then for each"
                    + " JVM that ran, also behind a wrapper script, what its pools of threads, the garbage collector, the"
                    + " compiler and virtual threads used, and what Thread.yield cost.",
            "Input, output, signals and the exit code are the command's."
        },
        footer = {
            "",
            "The agent gets in as an option of java, where that is the command itself; else by JAVA_TOOL_OPTIONS, at which each"
                    + " JVM prints a line to standard error: --no-agent does without.",
            "",
            "Examples:",
            "  taskclock time -- java -jar app.jar",
            "  taskclock time --json times.json -- ./gradlew --no-daemon build",
            "",
            "Exit codes: the command's, 128 + the signal that ended it, 126 if it cannot be run, 127 if it is not found;",
            "2 wrong usage, 1 if --json or --output cannot be written."
        })
final class Time implements Callable<Integer> {
    private static final int CANNOT_RUN = 126;
    private static final int NOT_FOUND = 127;
    private static final String OWN_AREA = "glibc.pthread.rseq=0";

    @Parameters(arity = "1..*", paramLabel = "COMMAND")
    private List<String> command;

    @Option(
            names = "--no-agent",
            description = "From outside only: no virtual threads, no yields, names of 15 characters.")
    private boolean noAgent;

    @Option(names = "--no-virtual", description = "No accounts for virtual threads, which cost a start some 100 ms.")
    private boolean noVirtual;

    @Option(names = "--json", paramLabel = "FILE", description = "All of it, for programs.")
    private Path json;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Instead of standard error.")
    private Path output;

    @Option(
            names = {"-q", "--quiet"},
            description = "Prints nothing; with --json.")
    private boolean quiet;

    /** What the command and its children used, as far as they were waited for. */
    record Times(long realNanos, long userNanos, long systemNanos) {}

    /** What --json writes. */
    record Result(
            String format, List<String> command, int exitCode, Times times, List<Usage> jvms, List<String> notes) {}

    @Override
    public Integer call() throws IOException {
        Path folder = Files.createTempDirectory("taskclock-time-");
        // The command may go on as another user, who cannot list what is here.
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx-wx-wx"));
        try {
            return run(folder);
        } finally {
            delete(folder);
        }
    }

    private int run(Path folder) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        if (!noAgent) addAgent(builder, folder);
        addOwnArea(builder.environment());
        Times before = children();
        long start = System.nanoTime();
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            boolean found = !String.valueOf(e.getMessage()).contains("No such file");
            return Main.complain(
                    "time: " + command.get(0) + ": " + (found ? "cannot be run" : "not found"),
                    found ? CANNOT_RUN : NOT_FOUND);
        }
        Forwarding.to(process);
        Observer observer = new Observer(process.toHandle());
        int exitCode = waitFor(process);
        long realNanos = System.nanoTime() - start;
        List<Usage> seen = observer.end();
        Times after = children();
        Times times = new Times(realNanos, after.userNanos - before.userNanos, after.systemNanos - before.systemNanos);
        List<String> notes = new ArrayList<>();
        List<Usage> jvms = merge(accounts(folder, notes), seen, notes);
        Result result = new Result("taskclock-time/1", command, exitCode, times, jvms, notes);
        try {
            if (json != null) {
                String text = new GsonBuilder()
                        .setPrettyPrinting()
                        .disableHtmlEscaping()
                        .create()
                        .toJson(result);
                Files.writeString(json, text + "\n");
            }
            String text = TimeText.of(result);
            if (output != null) Files.writeString(output, text);
            else if (!quiet) System.err.print(text);
        } catch (IOException e) {
            return Main.complain("time: " + (json != null ? json : output) + ": " + Recorder.reason(e), Main.FAILED);
        }
        return exitCode;
    }

    private static int waitFor(Process process) {
        while (true) {
            try {
                return process.waitFor();
            } catch (InterruptedException e) {
                // Nobody does; the command's end is what counts.
                Thread.interrupted();
            }
        }
    }

    private void addAgent(ProcessBuilder builder, Path folder) throws IOException {
        String options = "threadmxbean=off,bean=off,jfr=off,yield=count," + (noVirtual ? "vthreads=off," : "")
                + "summary=" + folder;
        String agent = "-javaagent:" + AgentJar.find() + "=" + options;
        if (new File(command.get(0)).getName().equals("java")) {
            List<String> words = new ArrayList<>(command);
            words.add(1, agent);
            builder.command(words);
        } else {
            builder.environment().merge("JAVA_TOOL_OPTIONS", agent, (theirs, ours) -> theirs + " " + ours);
        }
    }

    /** Where only that rung reads without a system call. */
    private static void addOwnArea(Map<String, String> environment) {
        boolean wanted = false;
        for (ClockStatus.Verdict verdict : TaskClock.status().rungs()) {
            if (verdict.rung() == Rung.RSEQ && verdict.usable()) return;
            if (verdict.rung() == Rung.RSEQ_OWN)
                wanted = verdict.usable() || verdict.reason().contains(OWN_AREA);
        }
        // 6.19 has no use for it; those before need none.
        boolean can = !System.getProperty("os.version").matches("[3-6]\\..*");
        if (wanted && can) environment.merge("GLIBC_TUNABLES", OWN_AREA, (theirs, ours) -> theirs + ":" + ours);
    }

    /** Of the children of this process that have ended, and of theirs: getrusage's, in ticks. */
    private static Times children() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        // Fields 16 and 17, of which the first here is 3; user space counts them in hundredths of a second, on any
        // kernel.
        return new Times(0, Long.parseLong(fields[13]) * 10_000_000, Long.parseLong(fields[14]) * 10_000_000);
    }

    private static Map<Long, Usage> accounts(Path folder, List<String> notes) throws IOException {
        Map<Long, Usage> accounts = new HashMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (!file.toString().endsWith(".json")) continue;
                try {
                    AgentReport report = AgentReport.parse(Files.readString(file));
                    accounts.put(report.pid(), Usage.of(report));
                    if (report.overflown()) notes.add("JVM " + report.pid() + ": more names or places than are kept");
                } catch (IOException e) {
                    notes.add(file.getFileName() + ": " + e.getMessage());
                }
            }
        }
        return accounts;
    }

    /** A JVM's own account, or else what was seen of it. */
    private List<Usage> merge(Map<Long, Usage> accounts, List<Usage> seen, List<String> notes) {
        List<Usage> all = new ArrayList<>(accounts.values());
        for (Usage usage : seen) {
            if (accounts.containsKey(usage.pid())) continue;
            all.add(usage);
            if (!noAgent)
                notes.add(
                        "JVM " + usage.pid() + ": was ended before it could give an account, or ran without the agent;"
                                + " it was seen from outside");
        }
        all.sort((a, b) -> Long.compare(b.cpuNanos(), a.cpuNanos()));
        return all;
    }

    private static void delete(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : (Iterable<Path>) files::iterator) Files.deleteIfExists(file);
            Files.delete(folder);
        } catch (IOException e) {
            System.err.println("taskclock: time: " + folder + " could not be removed: " + e.getMessage());
        }
    }
}
