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
import org.taskclock.benchmarks.Switches;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "overhead",
        mixinStandardHelpOptions = true,
        description = {
            "What reading costs a program that switches 100,000 times a second, on each rung; what the agent's accounting"
                    + " costs a server with virtual threads; what one reading costs by what lies before it.",
            "Needs the native library."
        })
final class OverheadExperiment extends ExperimentCommand {
    private static final Gson GSON = new Gson();
    private static final String BARE = "no agent";
    private static final String EMPTY = "an agent that does nothing";
    private static final String OFF = "TaskClock's, vthreads=off";
    private static final String ON = "TaskClock's, vthreads=on";
    private static final double SWITCHED_WARM_UP_SECONDS = 5;
    /** What else the machine does changes more slowly than that, so that neighbours have it both. */
    private static final double SWITCHED_SECONDS = 0.2;

    private static final List<String> VARIANTS = List.of(BARE, EMPTY, OFF, ON);

    /** What can be left out. */
    private enum Part {
        SWITCHES,
        SERVER,
        /** The same, in one JVM whose accounting is switched on and off. */
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
            description = "Only these, with commas between: ${COMPLETION-CANDIDATES}.")
    private Set<Part> only = EnumSet.allOf(Part.class);

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "5",
            description = "How often each is measured, in turn with the others (default: 5).")
    private int rounds;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "1",
            description = "How long each server warms up, and how long it is then measured (default: 1).")
    private double seconds;

    @Option(
            names = "--turns",
            paramLabel = "N",
            defaultValue = "300",
            description =
                    "How often the server that is switched is measured, for 0.2 s each, half of it with accounting (default: 300).")
    private int turns;

    private final Map<String, List<Switches.Turn>> switches = new LinkedHashMap<>();
    private final Map<String, List<CadenceResult>> readings = new LinkedHashMap<>();
    private final Map<String, Map<String, List<Server.Figures>>> servers = new LinkedHashMap<>();
    private final Map<String, List<Server.Figures>> switched = new LinkedHashMap<>();

    @Override
    int steps(List<Jdk> homes) {
        int steps = 0;
        for (Jdk home : homes) {
            if (only.contains(Part.SWITCHES)) steps++;
            if (only.contains(Part.READING)) steps++;
            if (only.contains(Part.SERVER) && home.hasVirtual()) steps += rounds;
            if (only.contains(Part.SWITCHED) && home.hasVirtual()) steps++;
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
                "--seconds",
                Double.toString(seconds),
                "--turns",
                Integer.toString(turns));
    }

    @Override
    void measure(List<Jdk> homes) throws LabException, Interruption.Cut, IOException, InterruptedException {
        atLeast(0.1, seconds);
        Jvm.checkAgent();
        if (rounds < 1) throw new LabException("--rounds " + rounds + ": too few: at least 1");
        if (turns < 4) throw new LabException("--turns " + turns + ": too few: at least 4");
        if (EnumSet.of(Part.SERVER, Part.SWITCHED).containsAll(only)) withVirtual(homes);
        for (Jdk home : homes) {
            if (only.contains(Part.SWITCHES)) switches(home);
            if (only.contains(Part.READING)) reading(home);
            if (only.contains(Part.SERVER) && home.hasVirtual()) serve(home);
            if (only.contains(Part.SWITCHED) && home.hasVirtual()) serveSwitched(home);
        }
    }

    private void switches(Jdk home) throws LabException, Interruption.Cut, IOException, InterruptedException {
        progress(home + ": switches, on each rung");
        List<Switches.Turn> turns = new ArrayList<>();
        switches.put(home.version(), turns);
        new Jvm(home)
                .run(
                        interruption(),
                        line -> turns.add(GSON.fromJson(line, Switches.Turn.class)),
                        Switches.class,
                        "--json",
                        "--rounds",
                        Integer.toString(rounds));
    }

    private void reading(Jdk home) throws LabException, Interruption.Cut, IOException, InterruptedException {
        progress(home + ": one reading, by what lies before it");
        List<CadenceResult> results = new ArrayList<>();
        readings.put(home.version(), results);
        new Jvm(home)
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

    private void serve(Jdk home) throws LabException, Interruption.Cut, IOException, InterruptedException {
        Map<String, List<Server.Figures>> variants = new LinkedHashMap<>();
        for (String variant : VARIANTS) variants.put(variant, new ArrayList<>());
        servers.put(home.version(), variants);
        for (int round = 1; round <= rounds; round++) {
            progress(home + ": a server with virtual threads, round " + round);
            for (String variant : VARIANTS) {
                jvm(home, variant)
                        .run(
                                interruption(),
                                line -> variants.get(variant).add(GSON.fromJson(line, Server.Figures.class)),
                                Server.class,
                                Double.toString(seconds),
                                Double.toString(seconds));
            }
        }
    }

    private void serveSwitched(Jdk home) throws LabException, Interruption.Cut, IOException, InterruptedException {
        progress(home + ": a server with virtual threads, accounting on and off");
        List<Server.Figures> figures = new ArrayList<>();
        switched.put(home.version(), figures);
        jvm(home, ON)
                .run(
                        interruption(),
                        line -> figures.add(GSON.fromJson(line, Server.Figures.class)),
                        Server.class,
                        Double.toString(SWITCHED_WARM_UP_SECONDS),
                        Double.toString(SWITCHED_SECONDS),
                        Integer.toString(turns));
    }

    private static Jvm jvm(Jdk home, String variant) throws LabException {
        Jvm jvm = new Jvm(home);
        return switch (variant) {
            case EMPTY -> jvm.emptyAgent();
            case OFF -> jvm.agent("vthreads=off");
            case ON -> jvm.agent("vthreads=on");
            default -> jvm;
        };
    }

    @Override
    void report(Report report) {
        if (only.contains(Part.SWITCHES)) {
            report.method.add(
                    "Switches: two threads on one processor take turns, and read once in each, beside arithmetic for 100,000 turns a"
                            + " second; a JVM for each rung. Each reading comes after a switch, so each is one system call, on every rung; what is over"
                            + " it is the marker. Medians of " + rounds + " rounds, of CPU time.");
            report.tables.add(OverheadTables.switches(switches));
        }
        if (only.contains(Part.SERVER)) {
            report.method.add(
                    "Server: 64 connections on the loopback interface, with a virtual thread at each end; a request is a byte there, 10"
                            + " us of arithmetic, a byte back. A new JVM for each round, which warms up for " + seconds
                            + " s and is measured for as long. Medians of " + rounds + " rounds.");
            report.tables.add(OverheadTables.servers(servers));
        }
        if (only.contains(Part.SWITCHED)) {
            report.method.add(
                    "The server that is switched: one JVM with the agent, whose accounting is on, off, off, on, and so on, for "
                            + SWITCHED_SECONDS
                            + " s each. Each turn is compared with its neighbour, so that what differs from one JVM to"
                            + " the next, and what drifts, is in neither. What the JVM itself does more for any agent is in both.");
            report.tables.add(SwitchedServer.table(switched));
            report.findings.add(SwitchedServer.finding(switched));
        }
        if (only.contains(Part.READING)) {
            report.method.add(
                    "One reading: time-stamps around it, less what empty brackets take. Each row of these tables is measured in "
                            + rounds
                            + " JVMs of its own, from one second after their first reading on. Medians of the JVMs.");
            report.tables.add(OverheadTables.byWork(readings));
            report.tables.add(OverheadTables.afterSwitches(readings));
            readings.forEach((jdk, results) -> report.bars.add(OverheadTables.bars(jdk, results)));
        }
        OverheadTables.findings(switches, readings).stream()
                .filter(finding -> only.size() == Part.values().length
                        || !finding.verdict().equals(Claim.NOT_MEASURED))
                .forEach(report.findings::add);
    }
}
