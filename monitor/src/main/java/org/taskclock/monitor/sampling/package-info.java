// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * Samples the threads of one JVM. {@link org.taskclock.monitor.sampling.Sampler} reads {@code /proc} and, if allowed,
 * attaches to the JVM for thread names, stacks, and the report of the agent; each reading becomes an
 * {@link org.taskclock.monitor.sampling.Interval} with the CPU time of each thread and the problems found.
 */
package org.taskclock.monitor.sampling;
