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
            "Measure the cost of Thread.yield.",
            "Platform and virtual threads, one or one per processor, count even numbers with and without yielding after"
                    + " each. Runs about 16 programs per JDK. Virtual threads need JDK 21."
        })
final class YieldExperiment extends ExperimentCommand {
    private static final Gson GSON = new Gson();

    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = SecondsConverter.class,
            defaultValue = "5s",
            description = "How long to run each program (default: 5s; the newsletter used 10.3s).")
    private double seconds;

    /** A program to run. */
    private record Plan(Jdk home, YieldRun.Mode mode, boolean virtual, int threads, boolean yielding, int carriers) {
        YieldRun run(List<EvenNumberProgram.Second> seconds, EvenNumberProgram.End end, ExperimentJvm.Times times) {
            return new YieldRun(home.version(), mode, virtual, threads, yielding, carriers, seconds, end, times);
        }
    }

    private final YieldRuns runs = new YieldRuns();
    private final int processors = Runtime.getRuntime().availableProcessors();

    private List<Plan> plans(List<Jdk> homes) {
        List<Plan> plans = new ArrayList<>();
        int[] oneAndAll = processors == 1 ? new int[] {1} : new int[] {1, processors};
        for (Jdk home : homes) {
            boolean[] kinds = home.hasVirtualThreads() ? new boolean[] {false, true} : new boolean[] {false};
            for (boolean yielding : new boolean[] {false, true}) {
                for (boolean virtual : kinds) {
                    for (int threads : oneAndAll) {
                        plans.add(new Plan(home, YieldRun.Mode.PLAIN, virtual, threads, yielding, 0));
                    }
                }
            }
            if (home.hasVirtualThreads()) {
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
        return List.of("--for", seconds + "s");
    }

    @Override
    void measure(List<Jdk> homes)
            throws LabException, MeasurementInterruptedException, IOException, InterruptedException {
        checkSeconds(0.1, seconds);
        for (Plan plan : plans(homes)) measure(plan);
    }

    private void measure(Plan plan)
            throws LabException, MeasurementInterruptedException, IOException, InterruptedException {
        List<EvenNumberProgram.Second> each = new ArrayList<>();
        EvenNumberProgram.End[] end = new EvenNumberProgram.End[1];
        ExperimentJvm.Times times = null;
        String with = plan.mode == YieldRun.Mode.PLAIN ? "" : ", " + plan.mode.text;
        String carriers = plan.carriers == 0 ? "" : ", carriers: " + plan.carriers;
        progress(plan.home + ": " + plan.run(each, null, null).description() + with + carriers);
        try {
            times = jvm(plan)
                    .run(
                            interruption(),
                            text -> {
                                EvenNumberProgram.Line line = GSON.fromJson(text, EvenNumberProgram.Line.class);
                                if (line.end() != null) end[0] = line.end();
                                if (line.second() == null) return;
                                each.add(line.second());
                                show(line.second());
                            },
                            EvenNumberProgram.class,
                            plan.virtual ? "virtual" : "platform",
                            Integer.toString(plan.threads),
                            plan.yielding ? "yielding" : "not",
                            Double.toString(seconds));
        } finally {
            // An interrupted run keeps its intervals.
            if (!each.isEmpty()) runs.add(plan.run(each, times == null ? null : end[0], times));
        }
        if (end[0] != null) printLive(String.format(Locale.ROOT, "allEvenNumbers = %,d", end[0].evenNumbers()));
        printLive(String.format(
                Locale.ROOT,
                "real %.3f s, user %.2f s, sys %.2f s%n",
                times.realSeconds(),
                times.userSeconds(),
                times.systemSeconds()));
    }

    private ExperimentJvm jvm(Plan plan) throws IOException {
        ExperimentJvm jvm = new ExperimentJvm(plan.home);
        switch (plan.mode) {
            case ACCOUNTED -> jvm.agent("vthreads=on");
            case SILENCED -> jvm.agent("vthreads=off,yield=off" + (plan.virtual ? ",virtual-yield=off" : ""));
            case FLAG -> jvm.option("-XX:+DontYieldALot");
            case PLAIN -> {}
        }
        if (plan.carriers > 0) jvm.option("-Djdk.virtualThreadScheduler.parallelism=" + plan.carriers);
        return jvm;
    }

    private void show(EvenNumberProgram.Second second) {
        long cpu = 0;
        long user = 0;
        long system = 0;
        for (ThreadSampler.Usage usage : second.threads()) {
            printLive(line(usage.name(), usage.cpuNanos(), usage.userNanos(), usage.systemNanos()));
            cpu += usage.cpuNanos();
            user += usage.userNanos();
            system += usage.systemNanos();
        }
        printLive(line("Total", cpu, user, system) + "  progress=" + second.progress());
    }

    private static String line(String name, long cpu, long user, long system) {
        return String.format(
                Locale.ROOT, "%-24s cpu=%-5.0f usr=%-5.0f sys=%-5.0f", name, cpu / 1e6, user / 1e6, system / 1e6);
    }

    @Override
    String liveTableTitle() {
        return YieldTables.SECONDS;
    }

    @Override
    void report(ResultBuilder report) {
        report.method.add("Each program runs in its own JVM for " + seconds
                + " s. Each of its threads counts even numbers on its own, and calls Thread.yield after each number "
                + "if the program yields. \"Several\" means one thread per processor.");
        report.method.add(
                "TaskClock's ThreadClock reads the CPU time of the counting threads and of the carriers every "
                        + "second. real, user, and sys are those of the whole process from start to end, as the "
                        + "kernel reports them to its parent.");
        report.method.add(
                "A claimed factor is confirmed between half and twice its value, a share of system time within ten "
                        + "percentage points, and other claims as stated.");
        if (runs.all().stream().noneMatch(YieldRun::virtual)) {
            report.method.add(
                    "Virtual threads were not measured: they need JDK " + VirtualThreadSupport.SINCE + " or later.");
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
