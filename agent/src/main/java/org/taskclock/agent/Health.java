// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.List;

/**
 * Whether the agent does what it was asked to do.
 *
 * @param parts what was asked for
 * @param mounts how often virtual threads were mounted under its eyes
 * @param stacks how many stacks of threads that yield were walked
 * @param failures how often something failed in a place where nothing may be thrown, since the agent was first loaded
 * @param lastFailure what failed last; null if nothing did
 * @param memoryBytes native memory of its records and an estimate of what its tables hold in the heap
 */
record Health(List<Part> parts, long mounts, long stacks, int failures, String lastFailure, long memoryBytes) {
    /**
     * One part.
     *
     * @param state as the options name it
     * @param problem why it is not as it was asked for; null if it is
     */
    record Part(String name, String state, String problem) {}
}
