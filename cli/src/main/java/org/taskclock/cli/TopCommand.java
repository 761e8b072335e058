// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.taskclock.monitor.attach.TemporaryAgent;
import org.taskclock.monitor.fleet.LiveJvm;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.IntervalSource;
import org.taskclock.monitor.sampling.IntervalSum;
import org.taskclock.monitor.sampling.ThreadColumn;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

@Command(
        name = "top",
        description = {
            "Live view of CPU time per thread in a running JVM.",
            "Reads /proc. Attaches to the JVM occasionally for full thread names and stacks, if permitted.",
            "With --accounts, shows named accounts instead of threads. Loads the agent for the duration if necessary.",
            "Without an argument, watches the busiest JVM. If a name matches several JVMs, the terminal view offers a"
                    + " choice."
        },
        footer = {
            "",
            "100 %% is one core. user + system = cpu. wait: runnable, but waiting for a processor.",
            "`~` marks a name truncated by the kernel; `-` means unknown.",
            "Text output of several intervals ends with their averages.",
            "",
            "Examples:",
            "  taskclock top                      the busiest JVM",
            "  taskclock top 4711                 process 4711, every second",
            "  taskclock top orders 5 12          \"orders\" in its name, 12 times 5 seconds",
            "  taskclock top 500ms                the busiest JVM, every half second",
            "  taskclock top --match port=8080    by its command line",
            "  taskclock top -p 4711,orders       two JVMs in one table",
            "  taskclock top --demo               a demo program",
            "  taskclock top 4711 --accounts      its tenants, endpoints, or other named accounts",
            "  taskclock top -b --limit 5 4711 | tee top.txt",
            "  taskclock top --json 4711 1 60 | jq -c 'select(.systemPercent > 50)'",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error, 4 no such process (or it exited), 5 permission denied."
        })
final class TopCommand implements Callable<Integer> {
    /** The columns that threads can be sorted by. Their rise is known in the interactive view only. */
    static final class SortColumns implements Iterable<String>, ITypeConverter<ThreadColumn> {
        @Override
        public Iterator<String> iterator() {
            return Stream.of(ThreadColumn.values())
                    .filter(column -> column.isSortable() && column != ThreadColumn.RISE)
                    .map(column -> column.id)
                    .iterator();
        }

        @Override
        public ThreadColumn convert(String id) {
            for (String known : this) if (known.equals(id)) return ThreadColumn.of(id);
            throw new TypeConversionException('"' + id + "\" is not one of " + String.join(", ", this));
        }
    }

    private static final Duration MIN_INTERVAL = Duration.ofMillis(50);

    @Spec
    private CommandSpec spec;

    @Parameters(
            arity = "0..3",
            paramLabel = "[PID|NAME] [INTERVAL [COUNT]]",
            hideParamSyntax = true,
            description = "Process id, or part of the program's name, ignoring case; interval, such as 500ms or 5s;"
                    + " number of intervals.")
    private List<String> arguments = new ArrayList<>();

    @Option(
            names = "-p",
            paramLabel = "PID|NAME[,...]",
            description = "Watch several JVMs in one table: process ids or names, separated by commas.")
    private List<String> jvms = new ArrayList<>();

    @Option(names = "--match", paramLabel = "TEXT", description = JvmOption.MATCH_DESCRIPTION)
    private String match;

    @Mixin
    private IntervalOptions interval;

    @Mixin
    private OutputOptions output;

    @Mixin
    private ScreenOptions screen;

    @Option(
            names = {"-s", "--sort"},
            paramLabel = "FIELD",
            defaultValue = "cpu",
            completionCandidates = SortColumns.class,
            converter = SortColumns.class,
            description = "Sort by one of: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private ThreadColumn sort;

    @Option(names = "--no-attach", description = "Do not attach to the JVM.")
    private boolean noAttach;

    @Option(names = "--json-schema", description = "Print the JSON Schema of the lines that --json prints, and exit.")
    private boolean jsonSchema;

    @Option(names = "--demo", description = "Start a demo program and watch it.")
    private boolean demo;

    @Override
    public Integer call() throws IOException, InterruptedException, CommandException {
        if (jsonSchema) {
            Main.print(RowFormat.schema());
            return Main.OK;
        }
        Process child = null;
        List<LiveJvm> sources = new ArrayList<>();
        List<TemporaryAgent> agents = new ArrayList<>();
        try {
            JvmQuery query = parseArguments();
            boolean useTerminal = output.isForTerminal() && Tty.isUsable();
            if (query != null && useTerminal && query.isAmbiguous()) {
                TerminalUi.Outcome outcome = show(List.of(new JvmChoice(query, !noAttach)));
                if (outcome.terminalUsed()) return outcome.exitCode(Main.NO_PROCESS);
            }
            Set<Long> pids = new LinkedHashSet<>();
            if (query != null) pids.add(query.select());
            for (String each : names()) pids.add(JvmQuery.of(each).select());
            if (demo) {
                child = Demo.start();
                pids.add(child.pid());
                System.err.println("taskclock: watching a demo program, process " + child.pid());
            }
            if (pids.isEmpty()) pids.add(JvmQuery.busiest());
            for (long pid : pids) {
                if (output.showsAccounts()) agents.add(TemporaryAgent.reportingAccounts(pid));
                LiveJvm source = LiveJvm.of(pid, !noAttach);
                sources.add(source);
                source.watchJavaStatus(output.showsJavaStatus() || sort.isJavaStatus());
            }
            if (useTerminal) {
                TerminalUi.Outcome outcome = show(sources);
                if (outcome.terminalUsed()) return outcome.exitCode(Main.NO_PROCESS);
            }
            Tty.release();
            return print(sources, output.isForTerminal() && isTerminal());
        } finally {
            for (LiveJvm source : sources) source.close();
            if (child != null) child.destroyForcibly();
            for (TemporaryAgent agent : agents) agent.close();
        }
    }

    private TerminalUi.Outcome show(List<? extends IntervalSource> sources) throws IOException {
        double seconds = interval.interval().toNanos() / 1e9;
        TerminalUi.Options options = output.terminalUi(seconds, interval.count(), sort);
        return TerminalUi.run(sources, options, screen.settings(spec, interval.isGiven()), screen.mouse());
    }

    /** Reads interval and count from the arguments. Returns the query for a single JVM, or null if there is none. */
    private JvmQuery parseArguments() {
        List<String> remaining = new ArrayList<>(arguments);
        JvmQuery query = null;
        if (match != null && (demo || !jvms.isEmpty()))
            throw usageError("--match cannot be combined with -p or --demo");
        if (noAttach && output.showsAccounts()) throw usageError("--accounts requires attaching: remove --no-attach");
        if (match != null) query = new JvmQuery(match, true);
        else if (jvms.isEmpty() && !demo && !remaining.isEmpty() && !IntervalOptions.isInterval(remaining.get(0)))
            query = JvmQuery.of(remaining.remove(0));
        interval.parse(remaining, MIN_INTERVAL);
        output.validate(spec);
        return query;
    }

    /** Returns the process ids and names in the options -p. */
    private List<String> names() {
        List<String> names = new ArrayList<>();
        for (String list : jvms) {
            for (String name : list.split(",", -1)) {
                if (name.isBlank()) throw usageError("-p " + list + ": an entry of the list is empty");
                names.add(name.trim());
            }
        }
        return names;
    }

    private ParameterException usageError(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private int print(List<LiveJvm> sources, boolean terminal) throws IOException {
        boolean color = output.isColored() && terminal;
        TopText text = new TopText(color, sort, output.showsAccounts());
        Map<Integer, IntervalSum> sums = new LinkedHashMap<>();
        try {
            printIntervals(sources, text, sums);
        } catch (MonitorException e) {
            output.print(output.formatAverage(sums.values(), sort, text));
            throw e;
        }
        output.print(output.formatAverage(sums.values(), sort, text));
        return Main.OK;
    }

    /** Prints intervals until the count is reached or a signal arrives. */
    private void printIntervals(List<LiveJvm> sources, TopText text, Map<Integer, IntervalSum> sums)
            throws IOException {
        TerminationSignal termination = new TerminationSignal();
        Set<Integer> offered = new HashSet<>();
        output.print(output.header());
        // Opening a JVM takes time: start the first interval of all JVMs together.
        if (sources.size() > 1) for (LiveJvm source : sources) source.next();
        long delayNanos = interval.interval().toNanos();
        Schedule schedule = new Schedule(System.nanoTime() + delayNanos);
        for (int i = 0; interval.count() == 0 || i < interval.count(); i++) {
            if (!termination.sleepUntil(schedule.due())) return;
            schedule.advance(System.nanoTime(), delayNanos);
            List<Interval> intervals = new ArrayList<>();
            List<OpenSections.Row> sections = new ArrayList<>();
            for (int s = 0; s < sources.size(); s++) {
                try {
                    Interval next = sources.get(s).next();
                    intervals.add(next);
                    sections.addAll(OpenSections.rows(next.pid(), sources.get(s).openSections()));
                    String note = sources.get(s).canLoadAgent() ? AgentOffer.note(next) : null;
                    if (note != null && offered.add(next.pid())) text.addNote(note);
                } catch (MonitorException e) {
                    if (sources.size() == 1) throw e;
                    System.err.println("taskclock: " + e.getMessage());
                    sources.remove(s--).close();
                }
            }
            for (Interval next : intervals) {
                if (output.isText())
                    sums.computeIfAbsent(next.pid(), pid -> new IntervalSum()).add(next);
            }
            output.print(output.format(intervals, sections, sort, text));
        }
    }

    private static boolean isTerminal() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/1")).startsWith("/dev/pts");
        } catch (IOException e) {
            return false;
        }
    }
}
