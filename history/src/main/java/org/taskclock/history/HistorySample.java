// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.time.Instant;
import java.util.List;
import org.taskclock.CpuTime;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The usage of one JVM in one interval. All times are those of the interval, not totals; a negative time means unknown.
 *
 * @param end the end of the interval
 * @param intervalNanos the length of the interval
 * @param pools the usage of each thread pool; {@link ThreadUsage#tid} is 0. May contain groups of virtual threads,
 *     whose CPU time is also included in the pools of their carriers, and named accounts, as pools of kind ACCOUNT
 * @param threads the usage of threads; may lack threads that used nothing
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
