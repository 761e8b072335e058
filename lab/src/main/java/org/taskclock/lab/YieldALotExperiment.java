// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoublePredicate;
import java.util.function.ToDoubleFunction;
import org.taskclock.report.Result;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "yield-a-lot",
        mixinStandardHelpOptions = true,
        description = "Measure one platform thread that only yields, with and without silencing its yields.")
final class YieldALotExperiment extends ExperimentCommand {
    private static final Gson GSON = new Gson();

    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = SecondsConverter.class,
            defaultValue = "3s",
            description = "How long to run each program (default: 3s; the newsletter used 1s).")
    private double seconds;

    record Run(String jdk, YieldRun.Mode mode, YieldProgram.Figures figures) {
        double perSecond() {
            return figures.counter() / figures.seconds();
        }

        double systemPercent() {
            return 100.0 * figures.systemNanos() / figures.cpuNanos();
        }
    }

    private final List<Run> runs = new ArrayList<>();
    /** By JDK: 1 if it accepts -XX:+DontYieldALot, 0 if it rejects it. */
    private final Map<String, Double> flags = new LinkedHashMap<>();

    private static List<YieldRun.Mode> modes(Jdk home) {
        return home.hasDontYieldALot()
                ? List.of(YieldRun.Mode.PLAIN, YieldRun.Mode.FLAG, YieldRun.Mode.SILENCED)
                : List.of(YieldRun.Mode.PLAIN, YieldRun.Mode.SILENCED);
    }

    @Override
    int steps(List<Jdk> homes) {
        return homes.stream().mapToInt(home -> modes(home).size()).sum();
    }

    @Override
    List<String> options() {
        return List.of("--for", seconds + "s");
    }

    @Override
    void measure(List<Jdk> homes)
            throws LabException, MeasurementInterruptedException, IOException, InterruptedException {
        checkSeconds(0.1, seconds);
        for (Jdk home : homes) {
            flags.put(home.version(), ExperimentJvm.accepts(home, YieldRun.Mode.FLAG.text) ? 1.0 : 0.0);
            for (YieldRun.Mode mode : modes(home)) {
                progress(home + ": one yielding thread, with: " + mode.text);
                ExperimentJvm jvm = new ExperimentJvm(home);
                if (mode == YieldRun.Mode.FLAG) jvm.option(mode.text);
                if (mode == YieldRun.Mode.SILENCED) jvm.agent("vthreads=off,yield=off");
                jvm.run(
                        interruption(),
                        line -> runs.add(
                                new Run(home.version(), mode, GSON.fromJson(line, YieldProgram.Figures.class))),
                        YieldProgram.class,
                        Double.toString(seconds));
            }
        }
    }

    @Override
    void report(ResultBuilder report) {
        report.method.add("One platform thread calls Thread.yield for " + seconds
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
        List<List<Object>> rows = new ArrayList<>();
        for (Run run : runs) {
            YieldProgram.Figures figures = run.figures;
            rows.add(row(
                    run.mode.text,
                    run.jdk,
                    figures.cpuNanos() / 1e6,
                    figures.userNanos() / 1e6,
                    figures.systemNanos() / 1e6,
                    figures.counter(),
                    figures.seconds()));
        }
        rows.add(published("nothing (newsletter)", Newsletter.SINGLE));
        rows.add(published(YieldRun.Mode.FLAG.text + " (newsletter)", Newsletter.SINGLE_SILENCED));
        List<Result.Column> columns = YieldTables.columns("with", "", "JDK", "", "cpu", "ms", "user", "ms");
        columns.addAll(YieldTables.columns(
                "system", "ms", "system", "%", "counter", "", "per second", "10^6", "per yield", "ns"));
        return new Result.Table(
                "A thread that only yields", "Newsletter: " + Newsletter.SINGLE_MACHINE + ".", columns, rows);
    }

    private static List<Object> published(String with, Newsletter.SingleThread figures) {
        return row(with, "21", figures.cpuMillis(), figures.userMillis(), figures.systemMillis(), figures.counter(), 1);
    }

    private static List<Object> row(
            String with, String jdk, double cpu, double user, double system, long counter, double seconds) {
        return Arrays.asList(
                with,
                jdk,
                cpu,
                user,
                system,
                100 * system / cpu,
                counter,
                counter / seconds / 1e6,
                seconds * 1e9 / counter);
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
        later.keySet().removeIf(jdk -> Jdk.feature(jdk) < 24);
        findings.add(claim("The flag was removed in JDK 24", "", "accepts it: %.0f", value -> value == 0)
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
