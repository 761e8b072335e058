// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import org.taskclock.monitor.Interval;
import org.taskclock.monitor.LiveJvm;
import org.taskclock.monitor.MonitorException;
import org.taskclock.monitor.ThreadUsage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "top",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Live view of CPU time per thread in a running JVM.",
            "Reads /proc. Attaches to the JVM occasionally for full thread names and stacks, if permitted.",
            "Without an argument, watches the busiest JVM, or a demo program if there is none."
        },
        footer = {
            "",
            "100 %% is one core. user + system = cpu. wait: runnable, but waiting for a processor.",
            "`~` marks a name truncated by the kernel; `-` means unknown.",
            "",
            "Examples:",
            "  taskclock top                      the busiest JVM",
            "  taskclock top 4711                 process 4711, every second",
            "  taskclock top orders 5 12          \"orders\" in its name, 12 times 5 seconds",
            "  taskclock top 0.5                  the busiest JVM, every half second",
            "  taskclock top -b --top 5 4711 | tee top.txt",
            "  taskclock top --json 4711 1 60 | jq -c 'select(.systemPercent > 50)'",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error, 4 no such process (or it exited), 5 permission denied."
        })
final class TopCommand implements Callable<Integer> {
    /** The fields that threads can be sorted by. */
    enum Field {
        cpu,
        user,
        system,
        wait,
        voluntary,
        involuntary,
        allocation,
        blocked,
        tid,
        name,
        pool;

        /** Orders usage from high to low, ids and names from low to high. */
        Comparator<ThreadUsage> order() {
            return switch (this) {
                case cpu -> Comparator.comparingLong(ThreadUsage::cpuNanos).reversed();
                case user -> Comparator.comparingLong(ThreadUsage::userNanos).reversed();
                case system ->
                    Comparator.comparingLong(ThreadUsage::systemNanos).reversed();
                case wait -> Comparator.comparingLong(ThreadUsage::waitNanos).reversed();
                case voluntary ->
                    Comparator.comparingLong(ThreadUsage::voluntary).reversed();
                case involuntary ->
                    Comparator.comparingLong(ThreadUsage::involuntary).reversed();
                case allocation ->
                    Comparator.comparingLong((ThreadUsage thread) -> thread.java().allocatedBytes())
                            .reversed();
                case blocked ->
                    Comparator.comparingLong((ThreadUsage thread) -> thread.java().blockedNanos())
                            .reversed();
                case tid -> Comparator.comparingInt(ThreadUsage::tid);
                case name -> Comparator.comparing(ThreadUsage::name);
                case pool -> Comparator.comparing(ThreadUsage::pool).thenComparing(ThreadUsage::name);
            };
        }
    }

    private static final double MIN_INTERVAL_SECONDS = 0.05;
    private static final double MAX_INTERVAL_SECONDS = 86_400;

    @Spec
    private CommandSpec spec;

    @Parameters(
            arity = "0..3",
            paramLabel = "[PID|NAME] [INTERVAL [COUNT]]",
            hideParamSyntax = true,
            description = "Process id or part of a program's name; interval in seconds; number of intervals.")
    private List<String> arguments = new ArrayList<>();

    @Option(names = "-p", split = ",", paramLabel = "PID", description = "Process ids, separated by commas.")
    private List<Long> pids = new ArrayList<>();

    @Option(
            names = {"-d", "--delay"},
            paramLabel = "SECONDS",
            description = "Interval in seconds (default: 1).")
    private Double delay;

    @Option(
            names = {"-n", "--count"},
            paramLabel = "COUNT",
            description = "Number of intervals (default: unlimited).")
    private Integer count;

    @Mixin
    private OutputOptions output;

    @Option(
            names = {"-s", "-o", "--sort"},
            paramLabel = "FIELD",
            defaultValue = "cpu",
            description = "Sort by one of: ${COMPLETION-CANDIDATES}.")
    private Field sort;

    @Option(names = "--no-attach", description = "Do not attach to the JVM.")
    private boolean noAttach;

    @Option(names = "--demo", description = "Start a demo program and watch it.")
    private boolean demo;

    @Override
    public Integer call() throws IOException, InterruptedException {
        Process child = null;
        List<LiveJvm> sources = new ArrayList<>();
        try {
            String process = parseArguments();
            if (pids.isEmpty() && process != null) pids.add(JvmSelector.select(process, false));
            if (pids.isEmpty() && !demo) {
                long busiest = JvmSelector.busiest();
                if (busiest > 0) pids.add(busiest);
                else demo = true;
            }
            if (demo) {
                child = Demo.start();
                pids.add(child.pid());
                System.err.println("taskclock: watching a demo program, process " + child.pid());
            }
            for (long pid : pids) {
                LiveJvm source = LiveJvm.of(pid, !noAttach);
                sources.add(source);
                source.watchJavaStatus(output.showsJavaStatus());
            }
            if (output.isForTerminal() && Tty.isUsable()) {
                TerminalUi.Outcome outcome = TerminalUi.run(sources, terminalUiOptions());
                if (outcome.terminalUsed()) {
                    return outcome.reason().isEmpty() ? Main.OK : Main.fail(outcome.reason(), Main.NO_PROCESS);
                }
            }
            return print(sources, output.isForTerminal() && isTerminal());
        } catch (CommandException e) {
            return Main.fail(e.getMessage(), e.exitCode);
        } catch (MonitorException e) {
            return JvmSelector.fail(e);
        } finally {
            for (LiveJvm source : sources) source.close();
            if (child != null) child.destroyForcibly();
        }
    }

    private TerminalUi.Options terminalUiOptions() {
        return output.terminalUi(delay, count == null ? 0 : count, Column.of(sort.name()));
    }

    /** Reads interval and count from the arguments. Returns the process id or name, or null if there is none. */
    private String parseArguments() {
        List<String> remaining = new ArrayList<>(arguments);
        String process = null;
        boolean isProcess = !remaining.isEmpty() && !remaining.get(0).matches("[0-9]*\\.[0-9]+");
        if (pids.isEmpty() && !demo && isProcess) process = remaining.remove(0);
        if (!remaining.isEmpty()) delay = number(remaining.remove(0), "interval");
        if (!remaining.isEmpty()) count = wholeNumber(remaining.remove(0), "count");
        if (!remaining.isEmpty()) throw usageError("unexpected argument: " + remaining.get(0));
        if (delay == null) delay = 1.0;
        if (!(delay >= MIN_INTERVAL_SECONDS && delay <= MAX_INTERVAL_SECONDS))
            throw usageError("interval " + delay + ": must be from 0.05 to 86400 seconds");
        if (count != null && count < 1) throw usageError("count " + count + ": must be at least 1");
        output.validate(spec);
        for (long pid : pids) if (pid < 1) throw usageError("process id " + pid + ": must be at least 1");
        return process;
    }

    private double number(String text, String name) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException e) {
            throw usageError(name + " \"" + text + "\" is not a number");
        }
    }

    private int wholeNumber(String text, String name) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw usageError(name + " \"" + text + "\" is not a whole number");
        }
    }

    private ParameterException usageError(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private int print(List<LiveJvm> sources, boolean terminal) throws IOException, InterruptedException {
        boolean color = output.isColored() && terminal;
        TopText text = new TopText(color);
        Main.print(output.header());
        long delayNanos = (long) (delay * 1e9);
        long due = System.nanoTime();
        for (int i = 0; count == null || i < count; i++) {
            due += delayNanos;
            for (long remaining; (remaining = due - System.nanoTime()) > 0; )
                Thread.sleep(remaining / 1_000_000, (int) (remaining % 1_000_000));
            // Do not catch up after a long pause.
            due = Math.max(due, System.nanoTime() - delayNanos);
            for (int s = 0; s < sources.size(); s++) {
                Interval interval;
                try {
                    interval = sources.get(s).next();
                } catch (MonitorException e) {
                    if (sources.size() == 1) throw e;
                    System.err.println("taskclock: " + e.getMessage());
                    sources.remove(s--).close();
                    continue;
                }
                Main.print(output.format(interval, sort.order(), text));
            }
        }
        return Main.OK;
    }

    private static boolean isTerminal() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/1")).startsWith("/dev/pts");
        } catch (IOException e) {
            return false;
        }
    }
}
