// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

/**
 * Reads the CPU time of threads and processes on Linux, in nanoseconds and split into user and system time. Start with
 * {@link org.taskclock.TaskClock} for the calling thread, {@link org.taskclock.ThreadClock} for any other thread, and
 * {@link org.taskclock.CpuAccount} for a task that runs on several threads. Unknown values are -1, never 0 or an
 * estimate.
 */
package org.taskclock;
