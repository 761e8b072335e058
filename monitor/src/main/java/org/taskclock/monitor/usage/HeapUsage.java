// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.usage;

/**
 * The JVM's heap at the end of an interval, and the pauses of garbage collection in it, from the JVM's performance data
 * (jvmstat).
 *
 * @param usedBytes as of the JVM's last update of its counters: most collectors update them at each collection only
 * @param committedBytes memory that the operating system has provided for the heap
 * @param maxBytes the limit of the heap, such as -Xmx
 * @param gcPauses pauses of the program that ended in the interval; concurrent collectors pause several times for each
 *     collection
 * @param gcPauseNanos the total length of these pauses, at most that of the interval
 */
public record HeapUsage(long usedBytes, long committedBytes, long maxBytes, long gcPauses, long gcPauseNanos) {}
