// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * One way to run JMH.
 *
 * @param sampled by SampleTime: single readings are timed, with percentiles; else AverageTime: many readings together
 * @param allRungs whether TaskClock is measured on each rung that is usable, or on the best alone
 */
record Part(
        boolean sampled,
        TimeUnit unit,
        int threads,
        int warmUps,
        long warmUpMillis,
        int iterations,
        long iterationMillis,
        int forks,
        boolean allRungs,
        List<Contender> contenders) {
    private static final long LEAST_MILLIS = 10;

    Part scaled(double scale) {
        return new Part(
                sampled,
                unit,
                threads,
                warmUps,
                Math.max(LEAST_MILLIS, Math.round(warmUpMillis * scale)),
                iterations,
                Math.max(LEAST_MILLIS, Math.round(iterationMillis * scale)),
                forks,
                allRungs,
                contenders);
    }

    Part only(List<Contender> wanted) {
        List<Contender> left = contenders.stream().filter(wanted::contains).toList();
        return new Part(
                sampled, unit, threads, warmUps, warmUpMillis, iterations, iterationMillis, forks, allRungs, left);
    }

    /** Of each contender, without the start of its JVMs. */
    long millis() {
        return forks * (warmUps * warmUpMillis + iterations * iterationMillis);
    }

    String how() {
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

    /** As JMH abbreviates it. */
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
