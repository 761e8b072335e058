// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.List;

/**
 * The state of the agent's features, and the cost of the agent itself.
 *
 * @param mounts the mounts of virtual threads that were accounted for
 * @param stacks the number of stacks that were walked at sampled yields
 * @param failures the number of failures in code that must not throw, since the agent was first loaded
 * @param lastFailure where the last failure occurred, and its class; null if there was none
 * @param memoryBytes the native memory of the agent's records, plus an estimate for its tables in the heap
 */
record Health(List<Feature> features, Mounts mounts, long stacks, int failures, String lastFailure, long memoryBytes) {
    /**
     * Mounts of virtual threads.
     *
     * @param clockCalls how often a mount, an unmount, or a reading in between called clock_gettime
     * @param usageCalls how often an unmount called getrusage
     */
    record Mounts(long count, long clockCalls, long usageCalls) {}

    /**
     * The state of one feature. The components of this and other records are named like getters, because open types
     * require getters.
     */
    record Feature(String getName, String getState, String getProblem) implements TaskClockMXBean.Feature {}

    /** Returns the newer of two failures, each of which is null if there was none. Times are those of nanoTime. */
    static String newer(String failure, long failedAt, String other, long otherFailedAt) {
        boolean isNewer = other == null || (failure != null && failedAt - otherFailedAt >= 0);
        return isNewer ? failure : other;
    }
}
