// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.taskclock.internal.JdkVersions;
import org.taskclock.lab.options.YieldOptions;
import picocli.CommandLine.Command;

@Command(name = "yield")
final class YieldExperiment extends ExperimentCommand<YieldOptions> {
    private final YieldRuns runs = new YieldRuns();
    private final int processors = Runtime.getRuntime().availableProcessors();

    YieldExperiment() {
        super(new YieldOptions());
    }

    @Override
    List<Step> plan(List<Jdk> homes) {
        List<Step> steps = new ArrayList<>();
        int[] oneAndAll = processors == 1 ? new int[] {1} : new int[] {1, processors};
        for (Jdk home : homes) {
            boolean[] kinds = home.hasVirtualThreads() ? new boolean[] {false, true} : new boolean[] {false};
            for (boolean yielding : new boolean[] {false, true}) {
                for (boolean virtual : kinds) {
                    for (int threads : oneAndAll)
                        steps.add(step(home, YieldRun.Mode.PLAIN, virtual, threads, yielding, 0));
                }
            }
            if (home.hasVirtualThreads()) {
                for (int carriers : new int[] {1, 0, Newsletter.PROCESSORS})
                    steps.add(step(home, YieldRun.Mode.ACCOUNTED, true, 1, true, carriers));
                if (processors > 1) steps.add(step(home, YieldRun.Mode.ACCOUNTED, true, processors, true, 0));
            }
            for (int threads : oneAndAll) {
                for (boolean virtual : kinds) steps.add(step(home, YieldRun.Mode.SILENCED, virtual, threads, true, 0));
                if (home.hasDontYieldALot()) steps.add(step(home, YieldRun.Mode.FLAG, false, threads, true, 0));
            }
        }
        return steps;
    }

    private Step step(Jdk home, YieldRun.Mode mode, boolean virtual, int threads, boolean yielding, int carriers) {
        YieldRun run =
                new YieldRun(home.version(), mode, virtual, threads, yielding, carriers, new ArrayList<>(), null, null);
        return new Step(home + ": " + run.description() + run.options(), () -> measure(home, run));
    }

    private void measure(Jdk home, YieldRun run) throws IOException, InterruptedException {
        EvenNumberProgram.End[] end = new EvenNumberProgram.End[1];
        ExperimentJvm.Times times = null;
        try {
            times = start(home, run)
                    .run(
                            EvenNumberProgram.Line.class,
                            line -> {
                                if (line.end() != null) end[0] = line.end();
                                if (line.second() == null) return;
                                run.seconds().add(line.second());
                                show(line.second());
                            },
                            EvenNumberProgram.class,
                            run.virtual() ? "virtual" : "platform",
                            run.threads(),
                            run.yielding() ? "yielding" : "not",
                            options.seconds());
        } finally {
            // An interrupted run keeps its intervals.
            if (!run.seconds().isEmpty()) runs.add(run.ended(times == null ? null : end[0], times));
        }
        if (end[0] != null) printLive(String.format(Locale.ROOT, "allEvenNumbers = %,d", end[0].evenNumbers()));
        printLive(String.format(
                Locale.ROOT,
                "real %.3f s, user %.2f s, sys %.2f s%n",
                times.realSeconds(),
                times.userSeconds(),
                times.systemSeconds()));
    }

    private ExperimentJvm start(Jdk home, YieldRun run) throws IOException {
        ExperimentJvm jvm = jvm(home);
        switch (run.mode()) {
            case ACCOUNTED -> jvm.agent("vthreads=on");
            case SILENCED -> jvm.agent("vthreads=off,yield=off" + (run.virtual() ? ",virtual-yield=off" : ""));
            case FLAG -> jvm.option(run.mode().text);
            case PLAIN -> {}
        }
        if (run.carriers() > 0) jvm.option("-Djdk.virtualThreadScheduler.parallelism=" + run.carriers());
        return jvm;
    }

    private void show(EvenNumberProgram.Second second) {
        for (ThreadSampler.Usage usage : second.threads()) printLive(line(usage));
        printLive(line(ThreadSampler.Usage.sum(second.threads())) + "  progress=" + second.progress());
    }

    private static String line(ThreadSampler.Usage usage) {
        return String.format(
                Locale.ROOT,
                "%-24s cpu=%-5.0f usr=%-5.0f sys=%-5.0f",
                usage.name(),
                usage.cpuNanos() / 1e6,
                usage.userNanos() / 1e6,
                usage.systemNanos() / 1e6);
    }

    @Override
    String liveTableTitle() {
        return YieldTables.SECONDS;
    }

    @Override
    void report(ResultBuilder report) {
        report.method.add("Each program runs in its own JVM for " + options.seconds()
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
                    "Virtual threads were not measured: they need JDK " + JdkVersions.VIRTUAL_THREADS + " or later.");
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
