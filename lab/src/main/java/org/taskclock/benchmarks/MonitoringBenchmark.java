// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.taskclock.ProcessClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures the cost of monitoring a JVM with many threads, for the monitoring tool and for the JVM. {@code taskclock
 * top} and other tools run in alternation, with an interval of one second.
 */
@Command(
        name = "monitoring benchmark",
        mixinStandardHelpOptions = true,
        description = "Measure the cost of monitoring a JVM with many threads. Run it in the directory benchmarks.")
public final class MonitoringBenchmark extends MeasuringProgram {
    private static final int MAX_SETTLE_SECONDS = 5;
    private static final int BUSY_THREADS = 50;

    /**
     * A monitoring tool.
     *
     * @param command without the process id, which is the last argument
     */
    private record Tool(String text, List<String> command) {}

    /**
     * The CPU time in percent of one core.
     *
     * @param servingPercent of the JVM's own threads: compilers, collectors, and those that serve attached tools
     */
    private record Cost(double toolPercent, double targetPercent, double servingPercent) {}

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "2000",
            description = "Monitor a JVM with N threads (default: 2000).")
    private int threads;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "15",
            description = "Measure each tool for N seconds (default: 15).")
    private int seconds;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "5",
            description = "Measure everything N times (default: 5).")
    private int count;

    private RoundStatistics rounds;
    private final List<Tool> tools = List.of(
            new Tool("no tool", List.of()),
            new Tool("taskclock top", List.of("../taskclock", "top", "--json", "-p")),
            new Tool("taskclock top --no-attach", List.of("../taskclock", "top", "--json", "--no-attach", "-p")),
            new Tool("pidstat -t", List.of("pidstat", "-t", "1", "-p")),
            new Tool("top -H", List.of("top", "-H", "-b", "-d", "1", "-p")));
    private Cost[][] costs;
    private double[] firstMillis;

    private MonitoringBenchmark() {}

    public static void main(String[] args) {
        new MonitoringBenchmark().run(args);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        rounds = new RoundStatistics(count);
        costs = new Cost[tools.size()][count];
        firstMillis = new double[count];
        Process target =
                FreshJvm.builder(List.of("-Xss256k"), Target.class, threads).start();
        try {
            target.getInputStream().read(); // until it is ready
            measure(Long.toString(target.pid()));
        } finally {
            target.destroyForcibly();
        }
        System.out.print(text());
        return 0;
    }

    private void measure(String pid) throws IOException, InterruptedException {
        for (int round = 0; round < rounds.count(); round++) {
            for (int w = 0; w < tools.size(); w++) costs[w][round] = cost(tools.get(w), pid);
            firstMillis[round] = firstMillis(pid);
        }
    }

    /** Returns the cost of a tool, or null if it is not installed. */
    private Cost cost(Tool tool, String pid) throws IOException, InterruptedException {
        Process process = null;
        try {
            process = tool.command.isEmpty() ? null : start(tool.command, pid);
        } catch (IOException e) {
            return null;
        }
        try {
            ProcessClock target = ProcessClock.of(Long.parseLong(pid));
            TimeUnit.SECONDS.sleep(Math.min(seconds, MAX_SETTLE_SECONDS));
            long servingBefore = servingNanos(pid);
            long start = System.nanoTime();
            long targetBefore = target.cpuNanos();
            long toolBefore = toolNanos(process);
            TimeUnit.SECONDS.sleep(seconds);
            double percent = 100.0 / (System.nanoTime() - start);
            return new Cost(
                    percent * (toolNanos(process) - toolBefore),
                    percent * (target.cpuNanos() - targetBefore),
                    percent * (servingNanos(pid) - servingBefore));
        } finally {
            if (process != null) process.destroyForcibly().waitFor();
        }
    }

    /** Returns the CPU time of the JVM's own threads, which are those that the program did not start. */
    private static long servingNanos(String pid) throws IOException {
        long sum = 0;
        try (Stream<Path> tasks = Files.list(Path.of("/proc", pid, "task"))) {
            for (Path task : (Iterable<Path>) tasks::iterator) {
                String name = Files.readString(task.resolve("comm"));
                if (name.startsWith(Target.BUSY_NAME) || name.startsWith(Target.IDLE_NAME)) continue;
                String schedstat = Files.readString(task.resolve("schedstat"));
                sum += Long.parseLong(schedstat.substring(0, schedstat.indexOf(' ')));
            }
        }
        return sum;
    }

    /** Starts a tool. The taskclock script replaces itself with the JVM, so the process is the JVM. */
    private static Process start(List<String> command, String pid) throws IOException {
        List<String> all = new ArrayList<>(command);
        all.add(pid);
        ProcessBuilder builder =
                new ProcessBuilder(all).redirectOutput(Redirect.DISCARD).redirectError(Redirect.INHERIT);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        return builder.start();
    }

    private static long toolNanos(Process process) throws IOException {
        if (process == null) return 0;
        long nanos = ProcessClock.of(process.pid()).cpuNanos();
        if (nanos < 0 || !process.isAlive()) throw new IOException("the tool has exited");
        return nanos;
    }

    /** Returns the time from the start of the command to its first line, which covers an interval of 0.3 s. */
    private static double firstMillis(String pid) throws IOException, InterruptedException {
        long start = System.nanoTime();
        ProcessBuilder builder =
                new ProcessBuilder("../taskclock", "top", "-b", pid, "0.3", "1").redirectError(Redirect.INHERIT);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        if (process.getInputStream().read() < 0) throw new IOException("taskclock top printed nothing");
        double took = (System.nanoTime() - start) / 1e6;
        process.getInputStream().readAllBytes();
        process.waitFor();
        return took;
    }

    private String text() {
        TextTable table = new TextTable(
                "tool",
                "CPU of the tool, % of a core",
                "CPU of the JVM, %",
                "over no tool, %",
                "CPU of the JVM's own threads, %");
        for (int w = 0; w < tools.size(); w++) {
            Cost[] byRound = costs[w];
            if (byRound[0] == null) {
                table.add(List.of(tools.get(w).text, "not installed", "", "", ""));
                continue;
            }
            table.add(List.of(
                    tools.get(w).text,
                    w == 0 ? "" : rounds.spread("%.2f", round -> byRound[round].toolPercent),
                    rounds.spread("%.2f", round -> byRound[round].targetPercent),
                    w == 0
                            ? ""
                            : rounds.spread(
                                    "%+.2f", round -> byRound[round].targetPercent - costs[0][round].targetPercent),
                    rounds.spread("%.3f", round -> byRound[round].servingPercent)));
        }
        return "JDK " + Runtime.version() + ": a JVM with " + threads + " threads, " + BUSY_THREADS
                + " of which work for 0.2 ms every 50 ms, monitored once per second for " + seconds + " s. "
                + rounds.count()
                + " rounds: medians (quartiles).\n\n" + table.text(markdown)
                + "\nTime from the start of the command to its first line, which covers an interval of 300 ms: "
                + rounds.spread("%.0f", round -> firstMillis[round]) + " ms.\n";
    }

    /** A program with sleeping threads and some that work periodically. */
    static final class Target {
        static final String BUSY_NAME = "busy-";
        static final String IDLE_NAME = "idle-";
        private static final long WORK_NANOS = 200_000;
        private static final long PERIOD_MILLIS = 50;

        private Target() {}

        public static void main(String[] args) throws InterruptedException {
            int threads = Integer.parseInt(args[0]);
            for (int i = 0; i < threads; i++) {
                boolean busy = i < BUSY_THREADS;
                Thread thread = new Thread(busy ? Target::work : Target::sleep, (busy ? BUSY_NAME : IDLE_NAME) + i);
                thread.start();
            }
            System.out.println("ready");
        }

        private static void work() {
            try {
                while (true) {
                    Thread.sleep(PERIOD_MILLIS);
                    for (long start = System.nanoTime(); System.nanoTime() - start < WORK_NANOS; ) Thread.onSpinWait();
                }
            } catch (InterruptedException e) {
                // Never happens.
            }
        }

        private static void sleep() {
            try {
                while (true) TimeUnit.HOURS.sleep(1);
            } catch (InterruptedException e) {
                // Never happens.
            }
        }
    }
}
