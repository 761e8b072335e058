// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.ToDoubleFunction;
import org.apache.commons.math3.distribution.TDistribution;
import org.apache.commons.math3.stat.descriptive.SummaryStatistics;
import org.taskclock.report.Result;

/** Compares adjacent measurements of one server with accounting on and off. */
final class AccountingCost {
    private static final double MAX_PERCENT = 2;
    private static final double CONFIDENCE = 0.95;

    /**
     * A change in percent.
     *
     * @param error half of the 95 % confidence interval
     */
    record Change(double percent, double error) {
        boolean isWithin(double limit) {
            return Math.abs(percent) + error < limit;
        }

        boolean isBeyond(double limit) {
            return Math.abs(percent) - error > limit;
        }

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%+.2f %% \u00b1 %.2f", percent, error);
        }
    }

    private final List<ServerProgram.Figures> on = new ArrayList<>();
    private final List<ServerProgram.Figures> off = new ArrayList<>();

    /** Pairs adjacent measurements. Ignores an unpaired one at the end. */
    AccountingCost(List<ServerProgram.Figures> figures) {
        for (int i = 0; i + 1 < figures.size(); i += 2) {
            boolean onFirst = figures.get(i).accounting();
            on.add(figures.get(onFirst ? i : i + 1));
            off.add(figures.get(onFirst ? i + 1 : i));
        }
    }

    private static double mean(List<ServerProgram.Figures> all, ToDoubleFunction<ServerProgram.Figures> value) {
        return all.stream().mapToDouble(value).average().orElse(Double.NaN);
    }

    /**
     * Returns the mean change of the pairs. The error comes from Student's distribution; it is NaN for fewer than two
     * pairs.
     */
    Change change(ToDoubleFunction<ServerProgram.Figures> value) {
        SummaryStatistics changes = new SummaryStatistics();
        for (int i = 0; i < on.size(); i++)
            changes.addValue(100 * (value.applyAsDouble(on.get(i)) / value.applyAsDouble(off.get(i)) - 1));
        if (on.size() < 2) return new Change(changes.getMean(), Double.NaN);
        double t = new TDistribution(on.size() - 1).inverseCumulativeProbability((1 + CONFIDENCE) / 2);
        return new Change(changes.getMean(), t * changes.getStandardDeviation() / Math.sqrt(on.size()));
    }

    Change throughput() {
        return change(ServerProgram.Figures::requestsPerSecond);
    }

    Change cpu() {
        return change(ServerProgram.Figures::microsPerRequest);
    }

    private record Row(String name, String jdk, AccountingCost cost, ToDoubleFunction<ServerProgram.Figures> value) {}

    static Result.Table table(Map<String, List<ServerProgram.Figures>> byJdk) {
        List<Row> rows = new ArrayList<>();
        byJdk.forEach((jdk, figures) -> {
            AccountingCost cost = new AccountingCost(figures);
            if (cost.on.isEmpty()) return;
            rows.add(new Row("requests per second", jdk, cost, ServerProgram.Figures::requestsPerSecond));
            rows.add(new Row("CPU time per request, us", jdk, cost, ServerProgram.Figures::microsPerRequest));
        });
        return new TableBuilder<Row>()
                .column("figure", "", Row::name)
                .column("JDK", "", Row::jdk)
                .column("pairs", "", row -> row.cost.on.size())
                .column("with accounting", "", row -> mean(row.cost.on, row.value))
                .column("without", "", row -> mean(row.cost.off, row.value))
                .column("change", "%", row -> row.cost.change(row.value).percent)
                .column("error", "%", row -> row.cost.change(row.value).error)
                .build(
                        "A server whose accounting is switched on and off",
                        "Means. The change is the mean over all pairs, with half of its 95 % confidence interval as "
                                + "the error.",
                        rows);
    }

    static Result.Finding finding(Map<String, List<ServerProgram.Figures>> byJdk) {
        Map<String, Change> changes = new LinkedHashMap<>();
        byJdk.forEach((jdk, figures) -> {
            Change change = new AccountingCost(figures).throughput();
            if (Double.isFinite(change.error)) changes.put(jdk, change);
        });
        StringJoiner text = new StringJoiner("; ", "", changes.isEmpty() ? "" : ".");
        changes.forEach((jdk, change) -> text.add("JDK " + jdk + ": " + change));
        String verdict = ExperimentClaim.INCONCLUSIVE;
        if (changes.isEmpty()) verdict = ExperimentClaim.NOT_MEASURED;
        else if (changes.values().stream().allMatch(change -> change.isWithin(MAX_PERCENT)))
            verdict = ExperimentClaim.CONFIRMED;
        else if (changes.values().stream().anyMatch(change -> change.isBeyond(MAX_PERCENT)))
            verdict = ExperimentClaim.CONTRADICTED;
        return new Result.Finding(
                "Accounting for virtual threads changes a server's throughput by less than 2 %",
                "TaskClock", verdict, text.toString());
    }
}
