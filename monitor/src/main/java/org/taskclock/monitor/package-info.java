// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * Observes a JVM from outside. {@link org.taskclock.monitor.Sampler} reads {@code /proc} and, if allowed, attaches to
 * the JVM for thread names, stacks, and the agent's report; each reading becomes an
 * {@link org.taskclock.monitor.Interval} with the CPU time of each thread and the problems found. Intervals can be
 * recorded to a file, read back, and compared.
 */
package org.taskclock.monitor;
