// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.List;
import org.apache.commons.math3.stat.descriptive.rank.Percentile;
import org.apache.commons.math3.stat.descriptive.rank.Percentile.EstimationType;

/** The median of repeated measurements, with the 10th and 90th percentile. */
record QuantileRange(double low, double median, double high) {
    private static final double LOW_PERCENT = 10;
    private static final double HIGH_PERCENT = 90;

    static QuantileRange of(List<List<Double>> forks) {
        double[] values = forks.stream()
                .flatMap(List::stream)
                .mapToDouble(Double::doubleValue)
                .toArray();
        // Linear interpolation, the default of R and NumPy.
        Percentile percentile = new Percentile().withEstimationType(EstimationType.R_7);
        percentile.setData(values);
        return new QuantileRange(
                percentile.evaluate(LOW_PERCENT), percentile.evaluate(50), percentile.evaluate(HIGH_PERCENT));
    }

    /** Returns this divided by the other. The range is the widest possible: from low / high to high / low. */
    QuantileRange over(QuantileRange other) {
        return new QuantileRange(low / other.high, median / other.median, high / other.low);
    }

    /** Returns how many percent cheaper the other is. */
    QuantileRange percentSavedBy(QuantileRange other) {
        QuantileRange rest = other.over(this);
        return new QuantileRange(100 * (1 - rest.high), 100 * (1 - rest.median), 100 * (1 - rest.low));
    }
}
