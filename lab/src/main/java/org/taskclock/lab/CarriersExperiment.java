// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.taskclock.lab.options.CarriersOptions;
import org.taskclock.report.Result;
import picocli.CommandLine.Command;

@Command(name = "carriers")
final class CarriersExperiment extends ExperimentCommand<CarriersOptions> {
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

    /** A row of the table: a carrier, or the sum of all. */
    private record Row(Run run, String name, CarrierProgram.Carrier carrier) {}

    private final List<Run> runs = new ArrayList<>();

    CarriersExperiment() {
        super(new CarriersOptions());
    }

    private static int[] carriers() {
        int processors = Runtime.getRuntime().availableProcessors();
        return processors == Newsletter.PROCESSORS
                ? new int[] {processors}
                : new int[] {processors, Newsletter.PROCESSORS};
    }

    @Override
    List<Step> plan(List<Jdk> homes) throws LabException {
        List<Step> steps = new ArrayList<>();
        for (Jdk home : withVirtualThreads(homes)) {
            for (int carriers : carriers()) {
                steps.add(new Step(home + ": one yielding virtual thread, carriers: " + carriers, () -> jvm(home)
                        .agent("vthreads=on")
                        .option("-Djdk.virtualThreadScheduler.parallelism=" + carriers)
                        .run(
                                CarrierProgram.Figures.class,
                                figures -> runs.add(new Run(home.version(), carriers, figures)),
                                CarrierProgram.class,
                                options.seconds())));
            }
        }
        return steps;
    }

    @Override
    void report(ResultBuilder report) {
        report.method.add("One virtual thread yields for " + options.seconds()
                + " s and records after each yield which kernel thread it runs on. TaskClock's ThreadClock measures "
                + "the CPU time of the carriers; the agent measures how much of it is the thread's own.");
        report.tables.add(table(runs));
        for (Run run : runs) report.bars.add(bars(run));
        report.findings.add(finding(runs));
    }

    static Result.Table table(List<Run> runs) {
        List<Row> rows = new ArrayList<>();
        for (Run run : runs) {
            for (CarrierProgram.Carrier carrier : run.figures.carriers())
                rows.add(new Row(run, carrier.usage().name(), carrier));
            rows.add(new Row(run, "Total", CarrierProgram.Carrier.sum(run.figures.carriers())));
        }
        return new TableBuilder<Row>()
                .column("carrier", "", Row::name)
                .column("JDK", "", row -> row.run.jdk)
                .column("carriers", "", row -> row.run.carriers)
                .column("visits", "", row -> row.carrier.visits())
                .column("visits", "%", row -> 100.0 * row.carrier.visits() / row.run.figures.yields())
                .column("cpu", "ms", row -> row.carrier.usage().cpuNanos() / 1e6)
                .column("user", "ms", row -> row.carrier.usage().userNanos() / 1e6)
                .column("system", "ms", row -> row.carrier.usage().systemNanos() / 1e6)
                .column("thread's own", "ms", row -> row.carrier.carriedNanos() / 1e6)
                .column("scheduling", "ms", row -> row.carrier.ownNanos() / 1e6)
                .build(
                        "Carriers of one yielding virtual thread",
                        "A visit is a yield after which the thread continued on this carrier. cpu is user + system, "
                                + "and also the thread's own time + scheduling: all were read after the thread had "
                                + "ended and its carriers had gone to sleep.",
                        rows);
    }

    private static Result.Bars bars(Run run) {
        List<Result.Bar> bars = new ArrayList<>();
        for (CarrierProgram.Carrier carrier : run.figures.carriers()) {
            String name = carrier.usage().name();
            bars.add(new Result.Bar(name + ", thread's own", carrier.carriedNanos() / 1e6, null, null, false));
            bars.add(new Result.Bar(name + ", scheduling", carrier.ownNanos() / 1e6, null, null, false));
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
