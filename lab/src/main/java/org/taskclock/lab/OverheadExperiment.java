// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.benchmarks.CadenceBenchmark;
import org.taskclock.benchmarks.CadenceResult;
import org.taskclock.benchmarks.SwitchBenchmark;
import org.taskclock.lab.options.OverheadOptions;
import org.taskclock.lab.options.OverheadOptions.Part;
import picocli.CommandLine.Command;

@Command(name = "overhead")
final class OverheadExperiment extends ExperimentCommand<OverheadOptions> {
    private static final String BARE = "no agent";
    private static final String EMPTY = "an agent that does nothing";
    private static final String OFF = "TaskClock agent, vthreads=off";
    private static final String ON = "TaskClock agent, vthreads=on";
    private static final double SWITCHED_WARM_UP_SECONDS = 5;
    /** Short enough that other load on the machine affects adjacent windows equally. */
    private static final double WINDOW_SECONDS = 0.2;

    private static final List<String> VARIANTS = List.of(BARE, EMPTY, OFF, ON);

    private final Map<String, List<SwitchBenchmark.SwitchCost>> switches = new LinkedHashMap<>();
    private final Map<String, List<CadenceResult>> readings = new LinkedHashMap<>();
    private final Map<String, Map<String, List<ServerProgram.Figures>>> servers = new LinkedHashMap<>();
    private final Map<String, List<ServerProgram.Figures>> switched = new LinkedHashMap<>();

    OverheadExperiment() {
        super(new OverheadOptions());
    }

    @Override
    List<Step> plan(List<Jdk> homes) throws LabException {
        if (options.rounds < 1) throw new LabException("--rounds " + options.rounds + ": must be at least 1");
        if (options.windows < 4) throw new LabException("--windows " + options.windows + ": must be at least 4");
        if (EnumSet.of(Part.SERVER, Part.SWITCHED).containsAll(options.only)) withVirtualThreads(homes);
        List<Step> steps = new ArrayList<>();
        for (Jdk home : homes) {
            if (options.only.contains(Part.SWITCHES))
                steps.add(new Step(home + ": context switches on each backend", () -> measureSwitches(home)));
            if (options.only.contains(Part.READING))
                steps.add(
                        new Step(home + ": one reading after different amounts of work", () -> measureReadings(home)));
            if (!home.hasVirtualThreads()) continue;
            for (int round = 1; round <= options.rounds && options.only.contains(Part.SERVER); round++)
                steps.add(
                        new Step(home + ": a server with virtual threads, round " + round, () -> measureServer(home)));
            if (options.only.contains(Part.SWITCHED))
                steps.add(new Step(
                        home + ": a server with virtual threads, accounting on and off",
                        () -> measureSwitchedServer(home)));
        }
        return steps;
    }

    private static <T> List<T> of(Jdk home, Map<String, List<T>> byJdk) {
        return byJdk.computeIfAbsent(home.version(), unused -> new ArrayList<>());
    }

    private void measureSwitches(Jdk home) throws IOException, InterruptedException {
        jvm(home)
                .run(
                        SwitchBenchmark.SwitchCost.class,
                        of(home, switches)::add,
                        SwitchBenchmark.class,
                        "--json",
                        "--rounds",
                        options.rounds);
    }

    private void measureReadings(Jdk home) throws IOException, InterruptedException {
        jvm(home)
                .run(
                        CadenceResult.class,
                        of(home, readings)::add,
                        CadenceBenchmark.class,
                        "--json",
                        "--only",
                        "cadence,switches",
                        "--forks",
                        options.rounds,
                        "--rounds",
                        1);
    }

    private void measureServer(Jdk home) throws IOException, InterruptedException {
        Map<String, List<ServerProgram.Figures>> variants =
                servers.computeIfAbsent(home.version(), unused -> new LinkedHashMap<>());
        for (String variant : VARIANTS) {
            jvm(home, variant)
                    .run(
                            ServerProgram.Figures.class,
                            variants.computeIfAbsent(variant, unused -> new ArrayList<>())::add,
                            ServerProgram.class,
                            options.seconds(),
                            options.seconds());
        }
    }

    private void measureSwitchedServer(Jdk home) throws IOException, InterruptedException {
        jvm(home, ON)
                .run(
                        ServerProgram.Figures.class,
                        of(home, switched)::add,
                        ServerProgram.class,
                        SWITCHED_WARM_UP_SECONDS,
                        WINDOW_SECONDS,
                        options.windows);
    }

    private ExperimentJvm jvm(Jdk home, String variant) throws IOException {
        ExperimentJvm jvm = jvm(home);
        return switch (variant) {
            case EMPTY -> jvm.emptyAgent();
            case OFF -> jvm.agent("vthreads=off");
            case ON -> jvm.agent("vthreads=on");
            default -> jvm;
        };
    }

    @Override
    void report(ResultBuilder report) {
        if (options.only.contains(Part.SWITCHES)) {
            report.method.add(
                    "Context switches: two threads alternate on one processor. Each reads once per turn and does "
                            + "arithmetic, for 100,000 turns per second. Each backend has its own JVM. Every reading "
                            + "follows a switch, so it makes one system call on every backend. The rest is the cost "
                            + "of the marker. CPU time, medians of " + options.rounds + " rounds.");
            report.tables.add(OverheadTables.switches(switches));
        }
        if (options.only.contains(Part.SERVER)) {
            report.method.add(
                    "Server: 64 loopback connections with a virtual thread at each end. A request sends one byte, "
                            + "does 10 us of arithmetic, and returns one byte. Each round starts a new JVM, which "
                            + "warms up for " + options.seconds()
                            + " s and is then measured for the same time. Medians of "
                            + options.rounds + " rounds.");
            report.tables.add(OverheadTables.servers(servers));
        }
        if (options.only.contains(Part.SWITCHED)) {
            report.method.add(
                    "Switched server: one JVM with the agent, whose accounting is on, off, off, on, and so on, for "
                            + WINDOW_SECONDS
                            + " s each. Adjacent windows are compared, which cancels drift and differences "
                            + "between JVMs. Both include the cost that any agent causes in the JVM itself.");
            report.tables.add(AccountingCost.table(switched));
            report.findings.add(AccountingCost.finding(switched));
        }
        if (options.only.contains(Part.READING)) {
            report.method.add(
                    "One reading: the time between a time stamp before it and one after it, minus that between two "
                            + "time stamps alone. Each row is measured in " + options.rounds
                            + " separate JVMs, starting one second after their first reading. Medians of the JVMs.");
            report.tables.add(OverheadTables.byWork(readings));
            report.tables.add(OverheadTables.afterSwitches(readings));
            readings.forEach((jdk, results) -> report.bars.add(OverheadTables.bars(jdk, results)));
        }
        OverheadTables.findings(switches, readings).stream()
                .filter(finding -> options.only.size() == Part.values().length
                        || !finding.verdict().equals(ExperimentClaim.NOT_MEASURED))
                .forEach(report.findings::add);
    }
}
