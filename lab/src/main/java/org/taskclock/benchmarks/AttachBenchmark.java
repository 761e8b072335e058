// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.apache.commons.math3.stat.StatUtils;
import org.taskclock.ProcessClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures the cost of attaching and detaching the agent, compared with {@code jcmd PID VM.version}. Each round starts
 * a program ({@link AttachedProgram}) whose threads keep all processors busy, and lets it warm up. Costs are the CPU
 * time of the tool, the CPU time of all threads of the program's JVM except its workers, and the operations of the
 * workers in windows of 50 ms, per wall-clock time and per CPU time of the workers.
 */
@Command(
        name = "attach benchmark",
        mixinStandardHelpOptions = true,
        description = "Measure the cost of attaching and detaching the agent. Run it in the directory benchmarks.")
public final class AttachBenchmark extends MeasuringProgram {
    private static final int SETTLE_MILLIS = 1_500;
    private static final double LOW = 0.8;
    private static final String IDLE = "nothing";

    /** One window of the program. */
    private record Window(long nanoTime, long operations, long workerNanos) {}

    /**
     * The cost of one action in one round.
     *
     * @param worstWall operations in the worst window, relative to the median window
     * @param worstCpu the same for operations per CPU time of the workers
     * @param lowWindows the number of windows with less than 80 % of the operations of the median window
     */
    private record Cost(double toolMillis, double targetMillis, double worstWall, double worstCpu, double lowWindows) {}

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "5",
            description = "Measure everything N times (default: 5).")
    private int rounds;

    @Option(
            names = "--warm-up",
            paramLabel = "SECONDS",
            defaultValue = "10",
            description = "Warm up the program for SECONDS (default: 10).")
    private int warmUpSeconds;

    private final Map<String, List<Cost>> costs = new LinkedHashMap<>();

    private AttachBenchmark() {}

    public static void main(String[] args) {
        new AttachBenchmark().run(args);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        for (int round = 0; round < rounds; round++) measureOnce();
        System.out.print(text());
        return 0;
    }

    private void measureOnce() throws IOException, InterruptedException {
        Process target = FreshJvm.builder(List.of("-XX:+EnableDynamicAgentLoading"), AttachedProgram.class)
                .start();
        try (Windows windows = new Windows(target)) {
            TimeUnit.SECONDS.sleep(warmUpSeconds);
            String pid = Long.toString(target.pid());
            String jcmd = FreshJvm.tool("jcmd");
            measure(windows, IDLE, List.of());
            measure(windows, "jcmd VM.version, first", List.of(jcmd, pid, "VM.version"));
            measure(windows, "jcmd VM.version, again", List.of(jcmd, pid, "VM.version"));
            measure(windows, "attach", List.of("../taskclock", "attach", pid));
            measure(windows, "detach", List.of("../taskclock", "detach", pid));
            measure(windows, "attach, again", List.of("../taskclock", "attach", pid));
            measure(windows, "detach, again", List.of("../taskclock", "detach", pid));
        } finally {
            target.destroyForcibly().waitFor();
        }
    }

    private void measure(Windows windows, String action, List<String> command)
            throws IOException, InterruptedException {
        long idleStart = System.nanoTime();
        long idleBefore = windows.nonWorkerNanos();
        TimeUnit.MILLISECONDS.sleep(SETTLE_MILLIS);
        long start = System.nanoTime();
        long before = windows.nonWorkerNanos();
        double idleRate = (double) (before - idleBefore) / (start - idleStart);
        double tool = command.isEmpty() ? 0 : run(command);
        TimeUnit.MILLISECONDS.sleep(SETTLE_MILLIS);
        long end = System.nanoTime();
        double target = (windows.nonWorkerNanos() - before - idleRate * (end - start)) / 1e6;
        List<Window> idle = windows.between(idleStart, start);
        List<Window> busy = windows.between(start, end);
        double medianWall = median(idle.stream().mapToDouble(Window::operations).toArray());
        double medianCpu =
                median(idle.stream().mapToDouble(AttachBenchmark::rate).toArray());
        double[] wall = busy.stream()
                .mapToDouble(w -> w.operations / medianWall)
                .sorted()
                .toArray();
        double[] cpu =
                busy.stream().mapToDouble(w -> rate(w) / medianCpu).sorted().toArray();
        long low = Arrays.stream(wall).filter(share -> share < LOW).count();
        costs.computeIfAbsent(action, a -> new ArrayList<>()).add(new Cost(tool, target, wall[0], cpu[0], low));
    }

    private static double rate(Window window) {
        return (double) window.operations / Math.max(1, window.workerNanos);
    }

    private static double median(double... values) {
        return StatUtils.percentile(values, 50);
    }

    /** Runs a command and returns its CPU time in ms. The kernel counts the time of children in steps of 10 ms. */
    private static double run(List<String> command) throws IOException, InterruptedException {
        double before = childMillis();
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(Redirect.from(Path.of("/dev/null").toFile()))
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) throw new IOException(command + " failed: " + output);
        return childMillis() - before;
    }

    private static double childMillis() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        // cutime and cstime, fields 16 and 17 of proc_pid_stat(5), in hundredths of a second.
        return 10.0 * (Long.parseLong(fields[13]) + Long.parseLong(fields[14]));
    }

    /** The windows that the program prints, one per line. */
    private static final class Windows implements AutoCloseable {
        private final ProcessClock process;
        private final Path tasks;
        private final List<String> workers;
        private final List<Window> all = new ArrayList<>();
        private final Thread reader;

        Windows(Process program) throws IOException {
            BufferedReader lines = program.inputReader(StandardCharsets.US_ASCII);
            process = ProcessClock.of(program.pid());
            tasks = Path.of("/proc", Long.toString(program.pid()), "task");
            workers = List.of(lines.readLine().split(" ", -1));
            reader = new Thread(() -> read(lines), "windows");
            reader.setDaemon(true);
            reader.start();
        }

        private void read(BufferedReader lines) {
            lines.lines().map(line -> line.split(" ", -1)).forEach(fields -> {
                synchronized (all) {
                    all.add(new Window(
                            Long.parseLong(fields[0]), Long.parseLong(fields[1]), Long.parseLong(fields[2])));
                }
            });
        }

        List<Window> between(long start, long end) {
            synchronized (all) {
                return all.stream()
                        .filter(w -> w.nanoTime - start > 0 && end - w.nanoTime > 0)
                        .toList();
            }
        }

        /** Returns the CPU time of all threads except the workers, including threads that have ended. */
        long nonWorkerNanos() throws IOException {
            long nanos = process.cpuNanos();
            for (String tid : workers) {
                String schedstat = Files.readString(tasks.resolve(tid).resolve("schedstat"));
                nanos -= Long.parseLong(schedstat.substring(0, schedstat.indexOf(' ')));
            }
            return nanos;
        }

        @Override
        public void close() {
            reader.interrupt();
        }
    }

    private String text() {
        TextTable table = new TextTable(
                "action",
                "tool, CPU ms",
                "JVM, CPU ms",
                "worst window, wall",
                "worst window, CPU",
                "windows below 80 %");
        costs.forEach((action, all) -> table.add(List.of(
                action,
                cell(all, "%.0f", Cost::toolMillis),
                cell(all, "%.0f", Cost::targetMillis),
                cell(all, "%.2f", Cost::worstWall),
                cell(all, "%.2f", Cost::worstCpu),
                cell(all, "%.0f", Cost::lowWindows))));
        return "JDK " + Runtime.version() + ", "
                + Runtime.getRuntime().availableProcessors()
                + " processors, all kept busy by the program; medians of "
                + rounds + " rounds (min to max).\n\n" + table.text(markdown);
    }

    private static String cell(List<Cost> costs, String format, ToDoubleFunction<Cost> figure) {
        double[] values = costs.stream().mapToDouble(figure).sorted().toArray();
        return String.format(
                Locale.ROOT,
                format + " (" + format + " to " + format + ")",
                median(values),
                values[0],
                values[values.length - 1]);
    }
}
