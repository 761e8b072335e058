// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.taskclock.report.Result;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "carriers",
        mixinStandardHelpOptions = true,
        description =
                "Which carriers one yielding virtual thread visits, and what CPU time it used on each. Needs JDK 21.")
final class CarriersExperiment extends ExperimentCommand {
    private static final Gson GSON = new Gson();

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "3",
            description = "How long the thread yields (default: 3).")
    private double seconds;

    /** @param carriers how many there may be */
    record Run(String jdk, int carriers, Wanderer.Figures figures) {
        long visited() {
            return figures.carriers().stream().filter(each -> each.visits() > 0).count();
        }
    }

    private final List<Run> runs = new ArrayList<>();

    private static int[] carriers() {
        int processors = Runtime.getRuntime().availableProcessors();
        return processors == Newsletter.PROCESSORS
                ? new int[] {processors}
                : new int[] {processors, Newsletter.PROCESSORS};
    }

    @Override
    int steps(List<Jdk> homes) {
        return carriers().length * (int) homes.stream().filter(Jdk::hasVirtual).count();
    }

    @Override
    List<String> options() {
        return List.of("--seconds", Double.toString(seconds));
    }

    @Override
    void measure(List<Jdk> homes) throws LabException, Interruption.Cut, IOException, InterruptedException {
        atLeast(0.1, seconds);
        Jvm.checkAgent();
        List<Jdk> able = withVirtual(homes);
        for (Jdk home : able) {
            for (int carriers : carriers()) {
                progress(home + ": one virtual thread that yields, carriers: " + carriers);
                new Jvm(home)
                        .agent("vthreads=on")
                        .option("-Djdk.virtualThreadScheduler.parallelism=" + carriers)
                        .run(
                                interruption(),
                                line -> runs.add(
                                        new Run(home.version(), carriers, GSON.fromJson(line, Wanderer.Figures.class))),
                                Wanderer.class,
                                Double.toString(seconds));
            }
        }
    }

    @Override
    void report(Report report) {
        report.method.add("One virtual thread yields for " + seconds
                + " s and notes after each yield on which kernel thread it is. The CPU time of the carriers is read by"
                + " TaskClock's ThreadClock; what of it is the thread's own, by the agent.");
        report.tables.add(table(runs));
        for (Run run : runs) report.bars.add(bars(run));
        report.findings.add(finding(runs));
    }

    static Result.Table table(List<Run> runs) {
        List<List<Object>> rows = new ArrayList<>();
        for (Run run : runs) {
            long[] sums = new long[6];
            for (Wanderer.Carrier carrier : run.figures.carriers()) {
                Watched.Used used = carrier.used();
                long[] figures = {
                    carrier.visits(),
                    used.cpuNanos(),
                    used.userNanos(),
                    used.systemNanos(),
                    carrier.carriedNanos(),
                    carrier.ownNanos()
                };
                for (int i = 0; i < sums.length; i++) sums[i] += figures[i];
                rows.add(row(run, used.name(), figures));
            }
            rows.add(row(run, "Total", sums));
        }
        List<Result.Column> columns =
                YieldTables.columns("carrier", "", "JDK", "", "carriers", "", "visits", "", "visits", "%");
        columns.addAll(YieldTables.columns(
                "cpu", "ms", "user", "ms", "system", "ms", "the thread's", "ms", "scheduling", "ms"));
        return new Result.Table(
                "Where one yielding virtual thread was",
                "A visit is a yield after which the thread went on there.",
                columns,
                rows);
    }

    private static List<Object> row(Run run, String name, long[] figures) {
        return Arrays.asList(
                name,
                run.jdk,
                run.carriers,
                figures[0],
                100.0 * figures[0] / run.figures.yields(),
                figures[1] / 1e6,
                figures[2] / 1e6,
                figures[3] / 1e6,
                figures[4] / 1e6,
                figures[5] / 1e6);
    }

    private static Result.Bars bars(Run run) {
        List<Result.Bar> bars = new ArrayList<>();
        for (Wanderer.Carrier carrier : run.figures.carriers()) {
            bars.add(new Result.Bar(
                    carrier.used().name() + ", the thread's", carrier.carriedNanos() / 1e6, null, null, false));
            bars.add(new Result.Bar(
                    carrier.used().name() + ", scheduling", carrier.ownNanos() / 1e6, null, null, false));
        }
        return new Result.Bars("CPU time of carriers, JDK " + run.jdk + ", carriers: " + run.carriers, "", "ms", bars);
    }

    static Result.Finding finding(List<Run> runs) {
        Map<String, Double> shares = new LinkedHashMap<>();
        StringBuilder moves = new StringBuilder();
        for (Run run : runs) {
            shares.merge(run.jdk, 100.0 * run.visited() / run.carriers, Math::min);
            moves.append(String.format(
                    Locale.ROOT,
                    " JDK %s: %d of %d carriers, another one after %.2f %% of %,d yields.",
                    run.jdk,
                    run.visited(),
                    run.carriers,
                    100.0 * run.figures.moves() / run.figures.yields(),
                    run.figures.yields()));
        }
        Result.Finding finding = new Claim(
                        "A virtual thread that yields flips between all carriers",
                        Newsletter.SOURCE,
                        "12 of 12",
                        "visited at least %.0f %% of its carriers",
                        value -> value == 100)
                .judge(shares);
        return new Result.Finding(finding.claim(), finding.source(), finding.verdict(), finding.text() + moves);
    }
}
