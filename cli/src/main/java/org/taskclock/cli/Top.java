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
import org.taskclock.watch.Frame;
import org.taskclock.watch.Live;
import org.taskclock.watch.Row;
import org.taskclock.watch.Unwatchable;
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
            "Shows what the threads of a JVM that runs use, interval by interval.",
            "Reads /proc. For full names and stacks it asks the JVM by the attach mechanism, seldom, where that is allowed.",
            "Without a process: the busiest JVM; where there is none, a demonstration."
        },
        footer = {
            "",
            "100 %% is one core. user + system = cpu. wait: ready to run, but without a processor.",
            "A name with ~ is cut by the kernel; - stands for what cannot be known.",
            "",
            "Examples:",
            "  taskclock top                      the busiest JVM",
            "  taskclock top 4711                 that one, each second",
            "  taskclock top orders 5 12          \"orders\" in its name; 12 times 5 seconds",
            "  taskclock top 0.5                  the busiest, each half second",
            "  taskclock top -b --top 5 4711 | tee top.txt",
            "  taskclock top --json 4711 1 60 | jq -c 'select(.systemPercent > 50)'",
            "",
            "Exit codes: 0 done, 1 it failed, 2 wrong usage, 4 no such process, or it ended, 5 not permitted."
        })
final class Top implements Callable<Integer> {
    /** Fields to sort by. */
    enum Field {
        cpu,
        user,
        system,
        wait,
        voluntary,
        involuntary,
        tid,
        name,
        pool;

        /** The most first; ids and names upwards. */
        Comparator<Row> order() {
            return switch (this) {
                case cpu -> Comparator.comparingLong(Row::cpuNanos).reversed();
                case user -> Comparator.comparingLong(Row::userNanos).reversed();
                case system -> Comparator.comparingLong(Row::systemNanos).reversed();
                case wait -> Comparator.comparingLong(Row::waitNanos).reversed();
                case voluntary -> Comparator.comparingLong(Row::voluntary).reversed();
                case involuntary -> Comparator.comparingLong(Row::involuntary).reversed();
                case tid -> Comparator.comparingInt(Row::tid);
                case name -> Comparator.comparing(Row::name);
                case pool -> Comparator.comparing(Row::pool).thenComparing(Row::name);
            };
        }
    }

    private static final double SHORTEST = 0.05;
    private static final double LONGEST = 86_400;

    @Spec
    private CommandSpec spec;

    @Parameters(
            arity = "0..3",
            paramLabel = "[PID|NAME] [INTERVAL [COUNT]]",
            hideParamSyntax = true,
            description = "A process id or a part of a program's name; seconds; how many intervals.")
    private List<String> words = new ArrayList<>();

    @Option(names = "-p", split = ",", paramLabel = "PID", description = "Processes, with commas between.")
    private List<Long> pids = new ArrayList<>();

    @Option(
            names = {"-d", "--delay"},
            paramLabel = "SECONDS",
            description = "Length of an interval; 1 unless given.")
    private Double delay;

    @Option(
            names = {"-n", "--count"},
            paramLabel = "COUNT",
            description = "How many intervals; no end unless given.")
    private Integer count;

    @Mixin
    private Shown shown;

    @Option(
            names = {"-s", "-o", "--sort"},
            paramLabel = "FIELD",
            defaultValue = "cpu",
            description = "One of: ${COMPLETION-CANDIDATES}.")
    private Field sort;

    @Option(names = "--no-attach", description = "Ask the JVM nothing, so that it notices nothing.")
    private boolean noAttach;

    @Option(names = "--demo", description = "Start a demonstration and watch that.")
    private boolean demo;

    @Override
    public Integer call() throws IOException, InterruptedException {
        Process child = null;
        List<Live> sources = new ArrayList<>();
        try {
            String process = readWords();
            if (pids.isEmpty() && process != null) pids.add(Choice.of(process, false));
            if (pids.isEmpty() && !demo) {
                long busiest = Choice.busiest();
                if (busiest > 0) pids.add(busiest);
                else demo = true;
            }
            if (demo) {
                child = Demo.start();
                pids.add(child.pid());
                System.err.println("taskclock: watching a demonstration, process " + child.pid());
            }
            for (long pid : pids) sources.add(Live.of(pid, !noAttach));
            if (shown.isForTerminal() && Tty.usable()) {
                Screen.End end = Screen.run(sources, screenOptions());
                if (end.shown()) return end.why().isEmpty() ? Main.OK : Main.complain(end.why(), Main.NO_PROCESS);
            }
            return print(sources, shown.isForTerminal() && isTerminal());
        } catch (Target.Failure e) {
            return Main.complain(e.getMessage(), e.exitCode);
        } catch (Unwatchable e) {
            return Choice.complain(e);
        } finally {
            for (Live source : sources) source.close();
            if (child != null) child.destroyForcibly();
        }
    }

    private Screen.Options screenOptions() {
        return shown.screen(delay, count == null ? 0 : count, Column.of(sort.name()));
    }

    /** Returns the process, if one is named there. */
    private String readWords() {
        List<String> left = new ArrayList<>(words);
        String process = null;
        boolean named = !left.isEmpty() && !left.get(0).matches("[0-9]*\\.[0-9]+");
        if (pids.isEmpty() && !demo && named) process = left.remove(0);
        if (!left.isEmpty()) delay = number(left.remove(0), "interval");
        if (!left.isEmpty()) count = (int) number(left.remove(0), "count");
        if (!left.isEmpty()) throw misused("surplus: " + left.get(0));
        if (delay == null) delay = 1.0;
        if (!(delay >= SHORTEST && delay <= LONGEST))
            throw misused("interval " + delay + ": from 0.05 to 86400 seconds");
        if (count != null && count < 1) throw misused("count " + count + ": 1 or more");
        shown.check(spec);
        for (long pid : pids) if (pid < 1) throw misused("process id " + pid);
        return process;
    }

    private double number(String word, String what) {
        try {
            return Double.parseDouble(word);
        } catch (NumberFormatException e) {
            throw misused(what + " \"" + word + "\" is no number");
        }
    }

    private ParameterException misused(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private int print(List<Live> sources, boolean terminal) throws IOException, InterruptedException {
        boolean color = shown.isColored() && terminal;
        TopText text = new TopText(color);
        Main.print(shown.head());
        long length = (long) (delay * 1e9);
        long due = System.nanoTime();
        for (int i = 0; count == null || i < count; i++) {
            due += length;
            for (long left; (left = due - System.nanoTime()) > 0; )
                Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
            // One that was held up does not catch up.
            due = Math.max(due, System.nanoTime() - length);
            for (int s = 0; s < sources.size(); s++) {
                Frame frame;
                try {
                    frame = sources.get(s).next();
                } catch (Unwatchable e) {
                    if (sources.size() == 1) throw e;
                    System.err.println("taskclock: " + e.getMessage());
                    sources.remove(s--).close();
                    continue;
                }
                Main.print(shown.of(frame, sort.order(), text));
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
