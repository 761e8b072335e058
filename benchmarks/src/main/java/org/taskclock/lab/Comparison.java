// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.commons.math3.distribution.TDistribution;
import org.taskclock.report.Result;

/**
 * Whether B is faster than A, row by row, and whether that can be told.
 *
 * <p>Welch's interval of 99.9 %, which is JMH's too, for the difference of the means: over forks where both have three or more,
 * as what differs from start to start is in them; else over iterations, which know nothing of that. So a difference also has
 * to be larger than what two starts of one JVM differ by, and, where single readings were sampled, than the step of the
 * clock that timed them.
 */
final class Comparison {
    static final String FASTER = "faster";
    static final String SLOWER = "slower";
    static final String NO_DIFFERENCE = "no difference can be told";

    private static final double CONFIDENCE = 0.999;
    private static final int ENOUGH_FORKS = 3;
    /** Parts of the value, by which starts of one JVM differ: with few forks, and left where there are enough of them. */
    private static final double BETWEEN_STARTS = 0.05;

    private static final double WITH_FORKS = 0.01;
    /** System.nanoTime's, in steps of which samples are told on most machines. */
    private static final double STEP_NANOS = 10;

    private Comparison() {}

    /**
     * One row.
     *
     * @param low of the interval of B / A
     * @param high of it
     */
    record Row(String name, double a, double b, double low, double high, String verdict) {}

    static List<Row> compare(Measurements before, Measurements after) {
        List<Row> rows = new ArrayList<>();
        for (Measurement a : before.all()) {
            Measurement b = after.like(a);
            if (b == null) continue;
            String name = String.format(
                    Locale.ROOT,
                    "JDK %s, %s, %s, %d thread%s, %s",
                    a.jdk(),
                    a.contender().id,
                    a.rung(),
                    a.threads(),
                    a.threads() == 1 ? "" : "s",
                    a.sampled() ? "median sampled" : "average");
            rows.add(
                    a.sampled() ? row(name, a.medians(), b.medians(), STEP_NANOS) : row(name, a.means(), b.means(), 0));
        }
        return rows;
    }

    static Row row(String name, List<List<Double>> a, List<List<Double>> b, double step) {
        boolean byFork = a.size() >= ENOUGH_FORKS && b.size() >= ENOUGH_FORKS;
        Sample first = Sample.of(a, byFork);
        Sample second = Sample.of(b, byFork);
        double difference = second.mean - first.mean;
        double half = half(first, second);
        double least = Math.max(step, (byFork ? WITH_FORKS : BETWEEN_STARTS) * first.mean);
        boolean told = Math.abs(difference) > half && Math.abs(difference) > least;
        String verdict = told ? (difference < 0 ? FASTER : SLOWER) : NO_DIFFERENCE;
        return new Row(
                name,
                first.mean,
                second.mean,
                Math.max(0, (second.mean - half) / first.mean),
                (second.mean + half) / first.mean,
                verdict);
    }

    /** Half of Welch's interval; without end where one side has but one value. */
    private static double half(Sample a, Sample b) {
        if (a.count < 2 || b.count < 2) return Double.POSITIVE_INFINITY;
        double varianceA = a.variance / a.count;
        double varianceB = b.variance / b.count;
        double sum = varianceA + varianceB;
        if (sum == 0) return 0;
        double freedom = sum * sum / (varianceA * varianceA / (a.count - 1) + varianceB * varianceB / (b.count - 1));
        double t = new TDistribution(null, freedom).inverseCumulativeProbability(1 - (1 - CONFIDENCE) / 2);
        return t * Math.sqrt(sum);
    }

    private record Sample(int count, double mean, double variance) {
        static Sample of(List<List<Double>> forks, boolean byFork) {
            List<Double> values = byFork
                    ? forks.stream().map(Sample::mean).toList()
                    : forks.stream().flatMap(List::stream).toList();
            double mean = mean(values);
            double squares = values.stream()
                    .mapToDouble(value -> (value - mean) * (value - mean))
                    .sum();
            return new Sample(values.size(), mean, values.size() < 2 ? Double.NaN : squares / (values.size() - 1));
        }

        private static double mean(List<Double> values) {
            return values.stream().mapToDouble(Double::doubleValue).average().orElse(Double.NaN);
        }
    }

    static Result.Table table(List<Row> rows) {
        List<List<Object>> cells = new ArrayList<>();
        for (Row row : rows) {
            String interval = Double.isFinite(row.high())
                    ? String.format(Locale.ROOT, "%.2f to %.2f", row.low(), row.high())
                    : "unknown";
            cells.add(List.of(row.name(), row.a(), row.b(), row.b() / row.a(), interval, row.verdict()));
        }
        return new Result.Table(
                "B compared with A",
                "The interval of B / A holds the true ratio with 99.9 %, as far as the iterations know.",
                List.of(
                        new Result.Column("measured", ""),
                        new Result.Column("A", "ns"),
                        new Result.Column("B", "ns"),
                        new Result.Column("B / A", "x"),
                        new Result.Column("interval", ""),
                        new Result.Column("B is", "")),
                cells);
    }
}
