// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.Arrays;
import java.util.function.IntToDoubleFunction;

/** So many rounds, in each of which everything was measured once, so that what disturbs one disturbs all. */
public record Rounds(int count) {
    /** The median, and between which values the middle half of the rounds lies. */
    String spread(String format, IntToDoubleFunction values) {
        return Goal.format(
                format + " (" + format + " to " + format + ")",
                quantile(0.5, values),
                quantile(0.25, values),
                quantile(0.75, values));
    }

    public double quantile(double part, IntToDoubleFunction values) {
        double[] sorted = new double[count];
        for (int round = 0; round < count; round++) sorted[round] = values.applyAsDouble(round);
        Arrays.sort(sorted);
        return sorted[(int) (part * (count - 1))];
    }
}
