// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

/**
 * The CPU time of a {@link NestedTask}, in nanoseconds; -1 if it is unknown, such as that of a virtual thread without
 * the agent.
 *
 * @param selfNanos that of the task itself
 * @param totalNanos that of the task and of those of its parts that ended before it
 */
public record TaskUsage(long selfNanos, long totalNanos) {}
