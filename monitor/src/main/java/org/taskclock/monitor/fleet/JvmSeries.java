// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.metrics.Metric;
import org.taskclock.metrics.PoolUsage;

/** Validates the reported usage of a JVM, part of which comes from the JVM itself and may be forged. */
final class JvmSeries {
    /**
     * An upper limit for all values, in seconds or as a count: no counter can reach it, and it is exact as a
     * floating-point number.
     */
    private static final double MAX_VALUE = 1e15;

    /** Allows for the fact that the kernel and the agent read the clocks at different times. */
    private static final double TOLERANCE = 1.25;

    private static final long TOLERANCE_NANOS = 10_000_000_000L;

    private JvmSeries() {}

    /**
     * Returns the values of each metric.
     *
     * @throws IllegalStateException if they are impossible; the message is the reason
     */
    static Map<Metric, List<Metric.Point>> of(JvmUsage usage) {
        checkCpuTime(usage);
        Map<Metric, List<Metric.Point>> series = new EnumMap<>(Metric.class);
        for (Metric metric : Metric.values()) {
            List<Metric.Point> points = metric.points(usage);
            Set<List<String>> seen = new HashSet<>();
            for (Metric.Point point : points) {
                if (!(point.value() >= 0 && point.value() <= MAX_VALUE))
                    throw new IllegalStateException(metric.id() + " is " + point.value());
                for (long count : point.counts())
                    if (!(count >= 0 && count <= MAX_VALUE))
                        throw new IllegalStateException(metric.id() + " counts " + count);
                if (!seen.add(point.attributes()))
                    throw new IllegalStateException(metric.id() + " is there twice: " + point.attributes());
            }
            series.put(metric, points);
        }
        return series;
    }

    /**
     * The kernel measures the CPU time of the process. The CPU time of its virtual threads is reported only by its
     * agent.
     */
    private static void checkCpuTime(JvmUsage usage) {
        long process = usage.process().cpuNanos();
        if (process < 0) return;
        double pools = 0;
        for (PoolUsage pool : usage.pools()) pools += (double) pool.userNanos() + pool.systemNanos();
        if (pools > TOLERANCE * process + TOLERANCE_NANOS)
            throw new IllegalStateException("its threads claim " + Math.round(pools / 1e9)
                    + " s of CPU time, but the process has used " + Math.round(process / 1e9) + " s");
    }
}
