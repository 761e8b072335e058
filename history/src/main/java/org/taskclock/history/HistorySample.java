// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.time.Instant;
import java.util.List;
import org.taskclock.CpuTime;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * What one JVM used in one interval. All times are those of the interval, not totals; a negative time means unknown.
 *
 * @param end the end of the interval
 * @param intervalNanos the length of the interval
 * @param pools what each thread pool used; {@link ThreadUsage#tid} is 0. May have groups of virtual threads, whose CPU
 *     time the pools of their carriers contain, too
 * @param threads what single threads used; may lack threads that used nothing
 * @param process the CPU time of the process
 * @param container the CPU time of the control group and how long it was throttled, both in the interval; null if the
 *     JVM has no control group with a limit
 */
public record HistorySample(
        JvmKey jvm,
        Instant end,
        long intervalNanos,
        List<ThreadUsage> pools,
        List<ThreadUsage> threads,
        CpuTime process,
        JvmUsage.ContainerUsage container) {}
