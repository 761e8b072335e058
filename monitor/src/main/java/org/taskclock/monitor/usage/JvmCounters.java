// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.usage;

/**
 * What the JVM counted, from its performance data (jvmstat). -1 means unknown.
 *
 * @param safepoints how often all threads were stopped, for garbage collection or anything else
 * @param stoppedNanos how long they were stopped
 * @param reachingNanos how long it took until all of them had stopped
 * @param startedThreads Java threads that have started
 * @param gcCpuNanos CPU time of the threads of garbage collection, updated after each phase of a collection; known from
 *     JDK 22 on, but 0 with the serial collector
 */
public record JvmCounters(
        long safepoints, long stoppedNanos, long reachingNanos, long startedThreads, long gcCpuNanos) {
    public static final JvmCounters UNKNOWN = new JvmCounters(-1, -1, -1, -1, -1);

    /** Returns what was counted since an earlier reading. */
    public JvmCounters since(JvmCounters earlier) {
        return new JvmCounters(
                difference(safepoints, earlier.safepoints),
                difference(stoppedNanos, earlier.stoppedNanos),
                difference(reachingNanos, earlier.reachingNanos),
                difference(startedThreads, earlier.startedThreads),
                difference(gcCpuNanos, earlier.gcCpuNanos));
    }

    private static long difference(long now, long before) {
        return now < 0 || before < 0 ? -1 : Math.max(0, now - before);
    }
}
