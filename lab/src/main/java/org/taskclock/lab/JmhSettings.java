// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Settings for JMH.
 *
 * @param sampled true for SampleTime, which times single readings; false for AverageTime, which times many together
 * @param allBackends true to measure TaskClock on each usable backend; false for the best one only
 */
record JmhSettings(
        boolean sampled,
        TimeUnit unit,
        int threads,
        int warmUps,
        long warmUpMillis,
        int iterations,
        long iterationMillis,
        int forks,
        boolean allBackends,
        List<Contender> contenders) {
    private static final long MIN_MILLIS = 10;

    JmhSettings scaled(double scale) {
        return new JmhSettings(
                sampled,
                unit,
                threads,
                warmUps,
                Math.max(MIN_MILLIS, Math.round(warmUpMillis * scale)),
                iterations,
                Math.max(MIN_MILLIS, Math.round(iterationMillis * scale)),
                forks,
                allBackends,
                contenders);
    }

    JmhSettings only(List<Contender> requested) {
        List<Contender> remaining =
                contenders.stream().filter(requested::contains).toList();
        return new JmhSettings(
                sampled,
                unit,
                threads,
                warmUps,
                warmUpMillis,
                iterations,
                iterationMillis,
                forks,
                allBackends,
                remaining);
    }

    /** Returns the time per contender, without the start of JVMs. */
    long millis() {
        return forks * (warmUps * warmUpMillis + iterations * iterationMillis);
    }

    String description() {
        return String.format(
                Locale.ROOT,
                "%s, %s, %d thread%s, warm-up %d x %s s, measured %d x %s s, %d fork%s",
                sampled ? "SampleTime" : "AverageTime",
                unitName(),
                threads,
                threads == 1 ? "" : "s",
                warmUps,
                seconds(warmUpMillis),
                iterations,
                seconds(iterationMillis),
                forks,
                forks == 1 ? "" : "s");
    }

    /** Returns the abbreviation that JMH uses. */
    String unitName() {
        return switch (unit) {
            case NANOSECONDS -> "ns";
            case MICROSECONDS -> "us";
            default -> "ms";
        };
    }

    private static String seconds(long millis) {
        String text = String.format(Locale.ROOT, "%.3f", millis / 1e3);
        return text.replaceAll("\\.?0+$", "");
    }
}
