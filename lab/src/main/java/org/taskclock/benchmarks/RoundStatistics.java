// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.apache.commons.math3.stat.descriptive.rank.Percentile;
import org.apache.commons.math3.stat.descriptive.rank.Percentile.EstimationType;

/**
 * Quantiles over rounds. Each round measures everything once, so that disturbances affect all measurements of a round.
 *
 * @param count the number of rounds
 */
public record RoundStatistics(int count) {
    /** Formats the median and the quartiles. */
    String spread(String format, IntToDoubleFunction values) {
        return Goal.format(
                format + " (" + format + " to " + format + ")",
                quantile(0.5, values),
                quantile(0.25, values),
                quantile(0.75, values));
    }

    public double quantile(double fraction, IntToDoubleFunction values) {
        return quantile(fraction, IntStream.range(0, count).mapToDouble(values).toArray());
    }

    /**
     * Returns a quantile from 0 (the minimum) to 1 (the maximum), or NaN without values. It is one of the values, not
     * interpolated (R_1), which the confidence intervals by ranks in {@link EngineSummary} require.
     */
    static double quantile(double fraction, double... values) {
        // Percentile does not accept 0.
        if (fraction == 0) return Arrays.stream(values).min().orElse(Double.NaN);
        return new Percentile().withEstimationType(EstimationType.R_1).evaluate(values, 100 * fraction);
    }
}
