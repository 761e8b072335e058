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
        description = {
            "Measure which carriers one yielding virtual thread runs on, and the CPU time on each.",
            "Requires JDK 21 or later."
        })
final class CarriersExperiment extends ExperimentCommand {
    private static final Gson GSON = new Gson();

    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = SecondsConverter.class,
            defaultValue = "3s",
            description = "How long to yield (default: 3s).")
    private double seconds;

    /**
     * One run.
     *
     * @param carriers the scheduler's parallelism
     */
    record Run(String jdk, int carriers, CarrierProgram.Figures figures) {
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
        return carriers().length
                * (int) homes.stream().filter(Jdk::hasVirtualThreads).count();
    }

    @Override
    List<String> options() {
        return List.of("--for", seconds + "s");
    }

    @Override
    void measure(List<Jdk> homes)
            throws LabException, MeasurementInterruptedException, IOException, InterruptedException {
        checkSeconds(0.1, seconds);
        for (Jdk home : withVirtualThreads(homes)) {
            for (int carriers : carriers()) {
                progress(home + ": one yielding virtual thread, carriers: " + carriers);
                new ExperimentJvm(home)
                        .agent("vthreads=on")
                        .option("-Djdk.virtualThreadScheduler.parallelism=" + carriers)
                        .run(
                                interruption(),
                                line -> runs.add(new Run(
                                        home.version(), carriers, GSON.fromJson(line, CarrierProgram.Figures.class))),
                                CarrierProgram.class,
                                Double.toString(seconds));
            }
        }
    }

    @Override
    void report(ResultBuilder report) {
        report.method.add("One virtual thread yields for " + seconds
                + " s and records after each yield which kernel thread it runs on. TaskClock's ThreadClock measures "
                + "the CPU time of the carriers; the agent measures how much of it is the thread's own.");
        report.tables.add(table(runs));
        for (Run run : runs) report.bars.add(bars(run));
        report.findings.add(finding(runs));
    }

    static Result.Table table(List<Run> runs) {
        List<List<Object>> rows = new ArrayList<>();
        for (Run run : runs) {
            long[] sums = new long[6];
            for (CarrierProgram.Carrier carrier : run.figures.carriers()) {
                ThreadSampler.Usage usage = carrier.usage();
                long[] figures = {
                    carrier.visits(),
                    usage.cpuNanos(),
                    usage.userNanos(),
                    usage.systemNanos(),
                    carrier.carriedNanos(),
                    carrier.ownNanos()
                };
                for (int i = 0; i < sums.length; i++) sums[i] += figures[i];
                rows.add(row(run, usage.name(), figures));
            }
            rows.add(row(run, "Total", sums));
        }
        List<Result.Column> columns =
                YieldTables.columns("carrier", "", "JDK", "", "carriers", "", "visits", "", "visits", "%");
        columns.addAll(YieldTables.columns(
                "cpu", "ms", "user", "ms", "system", "ms", "thread's own", "ms", "scheduling", "ms"));
        return new Result.Table(
                "Carriers of one yielding virtual thread",
                "A visit is a yield after which the thread continued on this carrier. cpu is user + system, and also "
                        + "the thread's own time + scheduling: all were read after the thread had ended and its "
                        + "carriers had gone to sleep.",
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
        for (CarrierProgram.Carrier carrier : run.figures.carriers()) {
            bars.add(new Result.Bar(
                    carrier.usage().name() + ", thread's own", carrier.carriedNanos() / 1e6, null, null, false));
            bars.add(new Result.Bar(
                    carrier.usage().name() + ", scheduling", carrier.ownNanos() / 1e6, null, null, false));
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
                    " JDK %s: %d of %d carriers; %.2f %% of %,d yields changed the carrier.",
                    run.jdk,
                    run.visited(),
                    run.carriers,
                    100.0 * run.figures.moves() / run.figures.yields(),
                    run.figures.yields()));
        }
        Result.Finding finding = new ExperimentClaim(
                        "A yielding virtual thread moves between all carriers",
                        Newsletter.SOURCE,
                        "12 of 12",
                        "ran on at least %.0f %% of its carriers",
                        value -> value == 100)
                .check(shares);
        return new Result.Finding(finding.claim(), finding.source(), finding.verdict(), finding.text() + moves);
    }
}
