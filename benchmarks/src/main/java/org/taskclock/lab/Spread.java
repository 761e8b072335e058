// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.List;

/** The middle of what repetitions gave, and where the middle eight in ten of them lie. */
record Spread(double low, double middle, double high) {
    private static final double TAIL = 0.1;

    static Spread of(List<List<Double>> forks) {
        List<Double> sorted = forks.stream().flatMap(List::stream).sorted().toList();
        return new Spread(quantile(sorted, TAIL), quantile(sorted, 0.5), quantile(sorted, 1 - TAIL));
    }

    private static double quantile(List<Double> sorted, double part) {
        if (sorted.isEmpty()) return Double.NaN;
        double at = part * (sorted.size() - 1);
        int below = (int) at;
        int above = Math.min(below + 1, sorted.size() - 1);
        return sorted.get(below) + (at - below) * (sorted.get(above) - sorted.get(below));
    }

    /** How often the other is contained; widest where one was low while the other was high. */
    Spread over(Spread other) {
        return new Spread(low / other.high, middle / other.middle, high / other.low);
    }

    /** By which part the other is cheaper. */
    Spread savedBy(Spread other) {
        Spread left = other.over(this);
        return new Spread(1 - left.high, 1 - left.middle, 1 - left.low);
    }
}
