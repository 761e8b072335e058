// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoublePredicate;
import java.util.function.ToDoubleFunction;
import org.taskclock.internal.JdkVersions;
import org.taskclock.lab.options.YieldALotOptions;
import org.taskclock.report.Result;
import picocli.CommandLine.Command;

@Command(name = "yield-a-lot")
final class YieldALotExperiment extends ExperimentCommand<YieldALotOptions> {
    record Run(String jdk, YieldRun.Mode mode, YieldProgram.Figures figures) {
        double perSecond() {
            return figures.counter() / figures.seconds();
        }

        double systemPercent() {
            return 100.0 * figures.systemNanos() / figures.cpuNanos();
        }
    }

    private record Row(String with, String jdk, YieldProgram.Figures figures) {}

    private final List<Run> runs = new ArrayList<>();
    /** By JDK: 1 if it accepts -XX:+DontYieldALot, 0 if it rejects it. */
    private final Map<String, Double> flags = new LinkedHashMap<>();

    YieldALotExperiment() {
        super(new YieldALotOptions());
    }

    @Override
    List<Step> plan(List<Jdk> homes) {
        List<Step> steps = new ArrayList<>();
        for (Jdk home : homes) {
            for (YieldRun.Mode mode : List.of(YieldRun.Mode.PLAIN, YieldRun.Mode.FLAG, YieldRun.Mode.SILENCED)) {
                if (mode == YieldRun.Mode.FLAG && !home.hasDontYieldALot()) continue;
                steps.add(new Step(home + ": one yielding thread, with: " + mode.text, () -> measure(home, mode)));
            }
        }
        return steps;
    }

    private void measure(Jdk home, YieldRun.Mode mode) throws IOException, InterruptedException {
        if (mode == YieldRun.Mode.PLAIN)
            flags.put(home.version(), ExperimentJvm.accepts(home, YieldRun.Mode.FLAG.text) ? 1.0 : 0.0);
        ExperimentJvm jvm = jvm(home);
        if (mode == YieldRun.Mode.FLAG) jvm.option(mode.text);
        if (mode == YieldRun.Mode.SILENCED) jvm.agent("vthreads=off,yield=off");
        jvm.run(
                YieldProgram.Figures.class,
                figures -> runs.add(new Run(home.version(), mode, figures)),
                YieldProgram.class,
                options.seconds());
    }

    @Override
    void report(ResultBuilder report) {
        report.method.add("One platform thread calls Thread.yield for " + options.seconds()
                + " s, and reads its own CPU time before and after with TaskClock.");
        report.tables.add(table(runs));
        List<Result.Bar> bars = new ArrayList<>();
        for (Run run : runs) {
            bars.add(new Result.Bar(
                    "JDK " + run.jdk + ", with: " + run.mode.text, run.perSecond() / 1e6, null, null, false));
        }
        bars.add(new Result.Bar("newsletter", Newsletter.SINGLE.counter() / 1e6, null, null, true));
        bars.add(new Result.Bar(
                "newsletter, DontYieldALot", Newsletter.SINGLE_SILENCED.counter() / 1e6, null, null, true));
        report.bars.add(new Result.Bars("Iterations per second", "", "10^6", bars));
        report.findings.addAll(findings(runs, flags));
    }

    static Result.Table table(List<Run> runs) {
        List<Row> rows = new ArrayList<>();
        for (Run run : runs) rows.add(new Row(run.mode.text, run.jdk, run.figures));
        rows.add(new Row("nothing (newsletter)", "21", Newsletter.SINGLE));
        rows.add(new Row(YieldRun.Mode.FLAG.text + " (newsletter)", "21", Newsletter.SINGLE_SILENCED));
        return new TableBuilder<Row>()
                .column("with", "", Row::with)
                .column("JDK", "", Row::jdk)
                .column("cpu", "ms", row -> row.figures.cpuNanos() / 1e6)
                .column("user", "ms", row -> row.figures.userNanos() / 1e6)
                .column("system", "ms", row -> row.figures.systemNanos() / 1e6)
                .column("system", "%", row -> 100.0 * row.figures.systemNanos() / row.figures.cpuNanos())
                .column("counter", "", row -> row.figures.counter())
                .column("per second", "10^6", row -> row.figures.counter() / row.figures.seconds() / 1e6)
                .column("per yield", "ns", row -> row.figures.seconds() * 1e9 / row.figures.counter())
                .build("A thread that only yields", "Newsletter: " + Newsletter.SINGLE_MACHINE + ".", rows);
    }

    static List<Result.Finding> findings(List<Run> runs, Map<String, Double> flags) {
        double faster = (double) Newsletter.SINGLE_SILENCED.counter() / Newsletter.SINGLE.counter();
        List<Result.Finding> findings = new ArrayList<>();
        findings.add(claim(
                        "A yielding thread spends more than 30 % of its CPU time in the kernel",
                        "31 %", "%.0f %%", value -> value > 30)
                .check(byJdk(runs, YieldRun.Mode.PLAIN, Run::systemPercent)));
        findings.add(claim(
                        "With DontYieldALot, a yielding thread spends only about 6 % of its CPU time in the kernel",
                        "6 % in the text, 0.6 % by its figures", "%.1f %%", value -> value < 6)
                .check(byJdk(runs, YieldRun.Mode.FLAG, Run::systemPercent)));
        findings.add(claim(
                        "With DontYieldALot, the loop runs 35 times faster",
                        "35 x",
                        "%.0f x",
                        ExperimentClaim.about(faster))
                .check(ratios(runs, YieldRun.Mode.FLAG)));
        findings.add(new ExperimentClaim(
                        "The agent's yield=off does the same, even on JDKs without the flag",
                        "TaskClock",
                        "",
                        "%.0f x",
                        value -> value >= faster / 2)
                .check(ratios(runs, YieldRun.Mode.SILENCED)));
        Map<String, Double> later = new LinkedHashMap<>(flags);
        later.keySet().removeIf(jdk -> Jdk.feature(jdk) < JdkVersions.NO_DONT_YIELD_A_LOT);
        findings.add(claim(
                        "The flag was removed in JDK " + JdkVersions.NO_DONT_YIELD_A_LOT,
                        "",
                        "accepts it: %.0f",
                        value -> value == 0)
                .check(later));
        return findings;
    }

    private static ExperimentClaim claim(String text, String published, String format, DoublePredicate holds) {
        return new ExperimentClaim(text, Newsletter.SOURCE, published, format, holds);
    }

    private static Map<String, Double> byJdk(List<Run> runs, YieldRun.Mode mode, ToDoubleFunction<Run> figure) {
        Map<String, Double> figures = new LinkedHashMap<>();
        for (Run run : runs) {
            if (run.mode == mode) figures.put(run.jdk, figure.applyAsDouble(run));
        }
        return figures;
    }

    /** Returns the speed relative to the plain program. */
    private static Map<String, Double> ratios(List<Run> runs, YieldRun.Mode mode) {
        Map<String, Double> plain = byJdk(runs, YieldRun.Mode.PLAIN, Run::perSecond);
        Map<String, Double> ratios = byJdk(runs, mode, Run::perSecond);
        ratios.replaceAll((jdk, value) -> value / plain.getOrDefault(jdk, Double.NaN));
        return ratios;
    }
}
