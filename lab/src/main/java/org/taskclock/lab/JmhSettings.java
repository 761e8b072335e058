// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.runner.options.TimeValue;

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
        Phase warmUp,
        Phase measured,
        int forks,
        boolean allBackends,
        List<Contender> contenders) {
    private static final long MIN_MILLIS = 10;

    /** The iterations of a fork, and the time of each. */
    record Phase(int iterations, long millis) {
        Phase scaled(double scale) {
            return new Phase(iterations, Math.max(MIN_MILLIS, Math.round(millis * scale)));
        }

        @Override
        public String toString() {
            String seconds = String.format(Locale.ROOT, "%.3f", millis / 1e3).replaceAll("\\.?0+$", "");
            return iterations + " x " + seconds + " s";
        }
    }

    JmhSettings scaled(double scale) {
        return new JmhSettings(
                sampled, unit, threads, warmUp.scaled(scale), measured.scaled(scale), forks, allBackends, contenders);
    }

    /** Returns the time per contender, without the start of JVMs. */
    long millis() {
        return forks * (warmUp.iterations * warmUp.millis + measured.iterations * measured.millis);
    }

    String description() {
        return String.join(
                ", ",
                sampled ? "SampleTime" : "AverageTime",
                TimeValue.tuToString(unit),
                threads + (threads == 1 ? " thread" : " threads"),
                "warm-up " + warmUp,
                "measured " + measured,
                forks + (forks == 1 ? " fork" : " forks"));
    }
}
