// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.exporter;

import org.taskclock.metrics.JvmUsage;

/**
 * A reading of a JVM.
 *
 * @param startNanos the System.nanoTime at which its counters were 0
 */
public record JvmSnapshot(MonitoredJvm jvm, JvmUsage usage, long startNanos) {}
