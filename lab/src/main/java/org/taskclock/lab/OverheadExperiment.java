// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.taskclock.benchmarks.CadenceBenchmark;
import org.taskclock.benchmarks.CadenceResult;
import org.taskclock.benchmarks.SwitchBenchmark;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "overhead",
        mixinStandardHelpOptions = true,
        description = {
            "Measure the overhead of readings and of the agent's accounting.",
            "Measures a program with 100,000 context switches per second on each backend, a server with and without"
                    + " accounting for its virtual threads, and single readings after different amounts of work.",
            "Requires the native library."
        })
final class OverheadExperiment extends ExperimentCommand {
    private static final Gson GSON = new Gson();
    private static final String BARE = "no agent";
    private static final String EMPTY = "an agent that does nothing";
    private static final String OFF = "TaskClock agent, vthreads=off";
    private static final String ON = "TaskClock agent, vthreads=on";
    private static final double SWITCHED_WARM_UP_SECONDS = 5;
    /** Short enough that other load on the machine affects adjacent windows equally. */
    private static final double WINDOW_SECONDS = 0.2;

    private static final List<String> VARIANTS = List.of(BARE, EMPTY, OFF, ON);

    /** A part that --only selects. */
    private enum Part {
        SWITCHES,
        SERVER,
        /** The server in one JVM, with accounting switched on and off. */
        SWITCHED,
        READING;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Option(
            names = "--only",
            paramLabel = "PART",
            split = ",",
            description = "Measure only these parts, separated by commas: ${COMPLETION-CANDIDATES}.")
    private Set<Part> only = EnumSet.allOf(Part.class);

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "5",
            description = "Measure everything N times, in alternation (default: 5).")
    private int rounds;

    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = SecondsConverter.class,
            defaultValue = "1s",
            description = "How long to warm up each server, and then how long to measure it (default: 1s).")
    private double seconds;

    @Option(
            names = "--windows",
            paramLabel = "N",
            defaultValue = "300",
            description = "For part switched: measure N windows of 0.2 s, half of them with accounting (default: 300).")
    private int windows;

    private final Map<String, List<SwitchBenchmark.SwitchCost>> switches = new LinkedHashMap<>();
    private final Map<String, List<CadenceResult>> readings = new LinkedHashMap<>();
    private final Map<String, Map<String, List<ServerProgram.Figures>>> servers = new LinkedHashMap<>();
    private final Map<String, List<ServerProgram.Figures>> switched = new LinkedHashMap<>();

    @Override
    int steps(List<Jdk> homes) {
        int steps = 0;
        for (Jdk home : homes) {
            if (only.contains(Part.SWITCHES)) steps++;
            if (only.contains(Part.READING)) steps++;
            if (only.contains(Part.SERVER) && home.hasVirtualThreads()) steps += rounds;
            if (only.contains(Part.SWITCHED) && home.hasVirtualThreads()) steps++;
        }
        return steps;
    }

    @Override
    List<String> options() {
        return List.of(
                "--only",
                only.stream().map(Part::toString).collect(Collectors.joining(",")),
                "--rounds",
                Integer.toString(rounds),
                "--for",
                seconds + "s",
                "--windows",
                Integer.toString(windows));
    }

    @Override
    void measure(List<Jdk> homes)
            throws LabException, MeasurementInterruptedException, IOException, InterruptedException {
        checkSeconds(0.1, seconds);
        if (rounds < 1) throw new LabException("--rounds " + rounds + ": must be at least 1");
        if (windows < 4) throw new LabException("--windows " + windows + ": must be at least 4");
        if (EnumSet.of(Part.SERVER, Part.SWITCHED).containsAll(only)) withVirtualThreads(homes);
        for (Jdk home : homes) {
            if (only.contains(Part.SWITCHES)) measureSwitches(home);
            if (only.contains(Part.READING)) measureReadings(home);
            if (only.contains(Part.SERVER) && home.hasVirtualThreads()) measureServer(home);
            if (only.contains(Part.SWITCHED) && home.hasVirtualThreads()) measureSwitchedServer(home);
        }
    }

    private void measureSwitches(Jdk home)
            throws LabException, MeasurementInterruptedException, IOException, InterruptedException {
        progress(home + ": context switches on each backend");
        List<SwitchBenchmark.SwitchCost> costs = new ArrayList<>();
        switches.put(home.version(), costs);
        new ExperimentJvm(home)
                .run(
                        interruption(),
                        line -> costs.add(GSON.fromJson(line, SwitchBenchmark.SwitchCost.class)),
                        SwitchBenchmark.class,
                        "--json",
                        "--rounds",
                        Integer.toString(rounds));
    }

    private void measureReadings(Jdk home)
            throws LabException, MeasurementInterruptedException, IOException, InterruptedException {
        progress(home + ": one reading after different amounts of work");
        List<CadenceResult> results = new ArrayList<>();
        readings.put(home.version(), results);
        new ExperimentJvm(home)
                .run(
                        interruption(),
                        line -> results.add(CadenceResult.parse(line)),
                        CadenceBenchmark.class,
                        "--json",
                        "--only",
                        "cadence,switches",
                        "--forks",
                        Integer.toString(rounds),
                        "--rounds",
                        "1");
    }

    private void measureServer(Jdk home)
            throws LabException, MeasurementInterruptedException, IOException, InterruptedException {
        Map<String, List<ServerProgram.Figures>> variants = new LinkedHashMap<>();
        for (String variant : VARIANTS) variants.put(variant, new ArrayList<>());
        servers.put(home.version(), variants);
        for (int round = 1; round <= rounds; round++) {
            progress(home + ": a server with virtual threads, round " + round);
            for (String variant : VARIANTS) {
                jvm(home, variant)
                        .run(
                                interruption(),
                                line -> variants.get(variant).add(GSON.fromJson(line, ServerProgram.Figures.class)),
                                ServerProgram.class,
                                Double.toString(seconds),
                                Double.toString(seconds));
            }
        }
    }

    private void measureSwitchedServer(Jdk home)
            throws LabException, MeasurementInterruptedException, IOException, InterruptedException {
        progress(home + ": a server with virtual threads, accounting on and off");
        List<ServerProgram.Figures> figures = new ArrayList<>();
        switched.put(home.version(), figures);
        jvm(home, ON)
                .run(
                        interruption(),
                        line -> figures.add(GSON.fromJson(line, ServerProgram.Figures.class)),
                        ServerProgram.class,
                        Double.toString(SWITCHED_WARM_UP_SECONDS),
                        Double.toString(WINDOW_SECONDS),
                        Integer.toString(windows));
    }

    private static ExperimentJvm jvm(Jdk home, String variant) throws IOException {
        ExperimentJvm jvm = new ExperimentJvm(home);
        return switch (variant) {
            case EMPTY -> jvm.emptyAgent();
            case OFF -> jvm.agent("vthreads=off");
            case ON -> jvm.agent("vthreads=on");
            default -> jvm;
        };
    }

    @Override
    void report(ResultBuilder report) {
        if (only.contains(Part.SWITCHES)) {
            report.method.add(
                    "Context switches: two threads alternate on one processor. Each reads once per turn and does "
                            + "arithmetic, for 100,000 turns per second. Each backend has its own JVM. Every reading "
                            + "follows a switch, so it makes one system call on every backend. The rest is the cost "
                            + "of the marker. CPU time, medians of " + rounds + " rounds.");
            report.tables.add(OverheadTables.switches(switches));
        }
        if (only.contains(Part.SERVER)) {
            report.method.add(
                    "Server: 64 loopback connections with a virtual thread at each end. A request sends one byte, "
                            + "does 10 us of arithmetic, and returns one byte. Each round starts a new JVM, which warms "
                            + "up for " + seconds + " s and is then measured for the same time. Medians of " + rounds
                            + " rounds.");
            report.tables.add(OverheadTables.servers(servers));
        }
        if (only.contains(Part.SWITCHED)) {
            report.method.add(
                    "Switched server: one JVM with the agent, whose accounting is on, off, off, on, and so on, for "
                            + WINDOW_SECONDS
                            + " s each. Adjacent windows are compared, which cancels drift and differences "
                            + "between JVMs. Both include the cost that any agent causes in the JVM itself.");
            report.tables.add(AccountingCost.table(switched));
            report.findings.add(AccountingCost.finding(switched));
        }
        if (only.contains(Part.READING)) {
            report.method.add(
                    "One reading: the time between a time stamp before it and one after it, minus that between two "
                            + "time stamps alone. Each row is measured in " + rounds
                            + " separate JVMs, starting one second after their first reading. Medians of the JVMs.");
            report.tables.add(OverheadTables.byWork(readings));
            report.tables.add(OverheadTables.afterSwitches(readings));
            readings.forEach((jdk, results) -> report.bars.add(OverheadTables.bars(jdk, results)));
        }
        OverheadTables.findings(switches, readings).stream()
                .filter(finding -> only.size() == Part.values().length
                        || !finding.verdict().equals(ExperimentClaim.NOT_MEASURED))
                .forEach(report.findings::add);
    }
}
