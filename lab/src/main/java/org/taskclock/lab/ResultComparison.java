// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.commons.math3.distribution.TDistribution;
import org.apache.commons.math3.stat.descriptive.StatisticalSummary;
import org.apache.commons.math3.stat.descriptive.SummaryStatistics;
import org.taskclock.report.Result;

/**
 * Compares two results row by row and reports significant differences.
 *
 * <p>A difference of the means is significant if it exceeds Welch's 99.9 % confidence interval (JMH uses the same
 * level). The interval is computed over forks if both results have at least three, which includes the variation between
 * JVM starts; otherwise over iterations, which does not. Therefore, a difference must also exceed the typical variation
 * between starts and, for sampled readings, the step of the clock that timed them.
 */
final class ResultComparison {
    static final String FASTER = "faster";
    static final String SLOWER = "slower";
    static final String NO_DIFFERENCE = "no significant difference";

    private static final double CONFIDENCE = 0.999;
    private static final int MIN_FORKS = 3;
    /** Variation between JVM starts, as a fraction of the value, when comparing iterations. */
    private static final double MIN_CHANGE_BY_ITERATIONS = 0.05;
    /** The same when comparing forks. */
    private static final double MIN_CHANGE_BY_FORKS = 0.01;
    /** The step of System.nanoTime, and therefore of samples, on most machines. */
    private static final double STEP_NANOS = 10;

    private ResultComparison() {}

    /**
     * One row.
     *
     * @param low lower limit of B / A
     * @param high upper limit of B / A
     */
    record Row(String name, double a, double b, double low, double high, String verdict) {
        String interval() {
            return Double.isFinite(high) ? String.format(Locale.ROOT, "%.2f to %.2f", low, high) : "unknown";
        }
    }

    static List<Row> compare(Measurements before, Measurements after) {
        List<Row> rows = new ArrayList<>();
        for (Measurement a : before.all()) {
            Measurement b = after.comparable(a);
            if (b == null) continue;
            String name = String.format(
                    Locale.ROOT,
                    "JDK %s, %s, %s, %d thread%s, %s",
                    a.jdk(),
                    a.contender().id,
                    a.backend(),
                    a.threads(),
                    a.threads() == 1 ? "" : "s",
                    a.sampled() ? "median sampled" : "average");
            rows.add(
                    a.sampled() ? row(name, a.medians(), b.medians(), STEP_NANOS) : row(name, a.means(), b.means(), 0));
        }
        return rows;
    }

    static Row row(String name, List<List<Double>> a, List<List<Double>> b, double step) {
        boolean byFork = a.size() >= MIN_FORKS && b.size() >= MIN_FORKS;
        StatisticalSummary first = summary(a, byFork);
        StatisticalSummary second = summary(b, byFork);
        double difference = second.getMean() - first.getMean();
        double error = error(first, second);
        double minimum = Math.max(step, (byFork ? MIN_CHANGE_BY_FORKS : MIN_CHANGE_BY_ITERATIONS) * first.getMean());
        boolean significant = Math.abs(difference) > error && Math.abs(difference) > minimum;
        String verdict = significant ? (difference < 0 ? FASTER : SLOWER) : NO_DIFFERENCE;
        return new Row(
                name,
                first.getMean(),
                second.getMean(),
                Math.max(0, (second.getMean() - error) / first.getMean()),
                (second.getMean() + error) / first.getMean(),
                verdict);
    }

    /** Returns half of Welch's interval, or infinity if one side has a single value. */
    private static double error(StatisticalSummary a, StatisticalSummary b) {
        if (a.getN() < 2 || b.getN() < 2) return Double.POSITIVE_INFINITY;
        double varianceA = a.getVariance() / a.getN();
        double varianceB = b.getVariance() / b.getN();
        double sum = varianceA + varianceB;
        if (sum == 0) return 0;
        // The degrees of freedom by Welch and Satterthwaite: TTest in commons-math returns only p values.
        double freedom = sum * sum / (varianceA * varianceA / (a.getN() - 1) + varianceB * varianceB / (b.getN() - 1));
        double t = new TDistribution(null, freedom).inverseCumulativeProbability(1 - (1 - CONFIDENCE) / 2);
        return t * Math.sqrt(sum);
    }

    private static StatisticalSummary summary(List<List<Double>> forks, boolean byFork) {
        SummaryStatistics summary = new SummaryStatistics();
        for (List<Double> fork : forks) {
            if (byFork) {
                summary.addValue(
                        fork.stream().mapToDouble(Double::doubleValue).average().orElse(Double.NaN));
            } else {
                fork.forEach(summary::addValue);
            }
        }
        return summary;
    }

    static Result.Table table(List<Row> rows) {
        return new TableBuilder<Row>()
                .column("measured", "", Row::name)
                .column("A", "ns", Row::a)
                .column("B", "ns", Row::b)
                .column("B / A", "x", row -> row.b / row.a)
                .column("interval", "", Row::interval)
                .column("B is", "", Row::verdict)
                .build("B compared with A", "The interval is the 99.9 % confidence interval of B / A.", rows);
    }
}
