// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.List;
import java.util.Map;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.metrics.Metric;

/**
 * A reading of a JVM.
 *
 * @param series the validated values of each metric
 * @param startNanos the System.nanoTime at which its counters were 0
 */
public record JvmSnapshot(MonitoredJvm jvm, JvmUsage usage, Map<Metric, List<Metric.Point>> series, long startNanos) {}
