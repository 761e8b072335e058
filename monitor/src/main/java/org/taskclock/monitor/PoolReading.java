// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import java.util.List;
import org.taskclock.CpuTime;

/**
 * What the pools of a JVM used since the previous reading.
 *
 * @param pools one for each pool that has threads or used something; {@link ThreadUsage#threads} is the number of its
 *     threads
 * @param process the CPU time of the process since counting began
 */
public record PoolReading(List<ThreadUsage> pools, CpuTime process) {}
