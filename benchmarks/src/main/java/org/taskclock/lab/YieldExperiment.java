// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "yield",
        mixinStandardHelpOptions = true,
        description = {
            "Threads that count even numbers: platform or virtual, one or one for each processor, yielding at each or not.",
            "Takes the time that is given some 16 times for each JDK. Virtual threads need JDK 21."
        })
final class YieldExperiment extends ExperimentCommand {
    private static final Gson GSON = new Gson();

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "5",
            description = "How long each program runs (default: 5; the newsletter's ran for 10.3).")
    private double seconds;

    /** A program to run. */
    private record Plan(Jdk home, YieldRun.Mode mode, boolean virtual, int threads, boolean yielding, int carriers) {
        YieldRun run(List<EvenNumbers.Second> seconds, EvenNumbers.End end, Jvm.Times times) {
            return new YieldRun(home.version(), mode, virtual, threads, yielding, carriers, seconds, end, times);
        }
    }

    private final YieldRuns runs = new YieldRuns();
    private final int processors = Runtime.getRuntime().availableProcessors();

    private List<Plan> plans(List<Jdk> homes) {
        List<Plan> plans = new ArrayList<>();
        int[] oneAndAll = processors == 1 ? new int[] {1} : new int[] {1, processors};
        for (Jdk home : homes) {
            boolean[] kinds = home.hasVirtual() ? new boolean[] {false, true} : new boolean[] {false};
            for (boolean yielding : new boolean[] {false, true}) {
                for (boolean virtual : kinds) {
                    for (int threads : oneAndAll) {
                        plans.add(new Plan(home, YieldRun.Mode.PLAIN, virtual, threads, yielding, 0));
                    }
                }
            }
            if (home.hasVirtual()) {
                for (int carriers : new int[] {1, 0, Newsletter.PROCESSORS}) {
                    plans.add(new Plan(home, YieldRun.Mode.ACCOUNTED, true, 1, true, carriers));
                }
                if (processors > 1) plans.add(new Plan(home, YieldRun.Mode.ACCOUNTED, true, processors, true, 0));
            }
            for (int threads : oneAndAll) {
                for (boolean virtual : kinds) {
                    plans.add(new Plan(home, YieldRun.Mode.SILENCED, virtual, threads, true, 0));
                }
                if (home.hasDontYieldALot()) {
                    plans.add(new Plan(home, YieldRun.Mode.FLAG, false, threads, true, 0));
                }
            }
        }
        return plans;
    }

    @Override
    int steps(List<Jdk> homes) {
        return plans(homes).size();
    }

    @Override
    List<String> options() {
        return List.of("--seconds", Double.toString(seconds));
    }

    @Override
    void measure(List<Jdk> homes) throws LabException, Interruption.Cut, IOException, InterruptedException {
        atLeast(0.1, seconds);
        Jvm.checkAgent();
        for (Plan plan : plans(homes)) measure(plan);
    }

    private void measure(Plan plan) throws LabException, Interruption.Cut, IOException, InterruptedException {
        List<EvenNumbers.Second> each = new ArrayList<>();
        EvenNumbers.End[] end = new EvenNumbers.End[1];
        Jvm.Times times = null;
        String with = plan.mode == YieldRun.Mode.PLAIN ? "" : ", " + plan.mode.text;
        String carriers = plan.carriers == 0 ? "" : ", carriers: " + plan.carriers;
        progress(plan.home + ": " + plan.run(each, null, null).what() + with + carriers);
        try {
            times = jvm(plan)
                    .run(
                            interruption(),
                            text -> {
                                EvenNumbers.Line line = GSON.fromJson(text, EvenNumbers.Line.class);
                                if (line.end() != null) end[0] = line.end();
                                if (line.second() == null) return;
                                each.add(line.second());
                                show(line.second());
                            },
                            EvenNumbers.class,
                            plan.virtual ? "virtual" : "platform",
                            Integer.toString(plan.threads),
                            plan.yielding ? "yielding" : "not",
                            Double.toString(seconds));
        } finally {
            // Cut short it keeps its seconds.
            if (!each.isEmpty()) runs.add(plan.run(each, times == null ? null : end[0], times));
        }
        if (end[0] != null) live(String.format(Locale.ROOT, "allEvenNumbers = %,d", end[0].evenNumbers()));
        live(String.format(
                Locale.ROOT,
                "real %.3f s, user %.2f s, sys %.2f s%n",
                times.realSeconds(),
                times.userSeconds(),
                times.systemSeconds()));
    }

    private Jvm jvm(Plan plan) throws LabException {
        Jvm jvm = new Jvm(plan.home);
        switch (plan.mode) {
            case ACCOUNTED -> jvm.agent("vthreads=on");
            case SILENCED -> jvm.agent("vthreads=off,yield=off" + (plan.virtual ? ",virtual-yield=off" : ""));
            case FLAG -> jvm.option("-XX:+DontYieldALot");
            case PLAIN -> {}
        }
        if (plan.carriers > 0) jvm.option("-Djdk.virtualThreadScheduler.parallelism=" + plan.carriers);
        return jvm;
    }

    private void show(EvenNumbers.Second second) {
        long cpu = 0;
        long user = 0;
        long system = 0;
        for (Watched.Used used : second.threads()) {
            live(line(used.name(), used.cpuNanos(), used.userNanos(), used.systemNanos()));
            cpu += used.cpuNanos();
            user += used.userNanos();
            system += used.systemNanos();
        }
        live(line("Total", cpu, user, system) + "  progress=" + second.progress());
    }

    private static String line(String name, long cpu, long user, long system) {
        return String.format(
                Locale.ROOT, "%-24s cpu=%-5.0f usr=%-5.0f sys=%-5.0f", name, cpu / 1e6, user / 1e6, system / 1e6);
    }

    @Override
    String shownAlready() {
        return YieldTables.SECONDS;
    }

    @Override
    void report(Report report) {
        report.method.add("Each program runs in a JVM of its own for " + seconds
                + " s. Its threads count even numbers until time is up, each for itself, and where that is asked call"
                + " Thread.yield after each. \"Several\" are as many as there are processors.");
        report.method.add(
                "CPU time of the watched threads, those that count and the carriers of virtual ones, is read each second"
                        + " by TaskClock's ThreadClock; real, user and sys are those of the whole process from its start to its end,"
                        + " as the kernel tells its parent.");
        report.method.add(
                "Claims of factors are confirmed between half and twice the published one, shares of system time"
                        + " within ten points; the others as their text says.");
        if (runs.all().stream().noneMatch(YieldRun::virtual)) {
            report.method.add("Virtual threads were not measured: they need a JDK " + Virtual.SINCE + " or later.");
        }
        report.tables.add(YieldTables.summary(runs));
        report.tables.add(YieldTables.shares(runs));
        report.tables.add(YieldTables.silenced(runs));
        report.tables.add(YieldTables.seconds(runs));
        report.bars.add(YieldTables.bars(runs));
        for (YieldRun run : runs.all()) report.timelines.add(YieldTables.timeline(run));
        report.findings.addAll(YieldFindings.of(runs));
    }
}
