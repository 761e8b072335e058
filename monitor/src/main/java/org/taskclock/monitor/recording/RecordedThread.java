// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * What a recording contains once per thread, and how the CPU time since the start of a thread follows from its rows.
 *
 * @param watchedFromNanos the CPU time since the start when watching began; -1 if unknown
 * @param occurrence distinguishes otherwise identical threads
 */
record RecordedThread(
        int pid,
        int tid,
        long javaId,
        String name,
        boolean truncated,
        ThreadKind kind,
        String pool,
        long watchedFromNanos,
        int occurrence) {
    static RecordedThread of(ThreadUsage usage, int occurrence) {
        return new RecordedThread(
                usage.pid(),
                usage.tid(),
                usage.javaId(),
                usage.name(),
                usage.truncated(),
                usage.kind(),
                usage.pool(),
                watchedFromNanos(usage),
                occurrence);
    }

    static long watchedFromNanos(ThreadUsage usage) {
        return usage.totalNanos() < 0 ? -1 : usage.totalNanos() - usage.watchedNanos();
    }

    /** Returns the CPU time from the start of the thread to the start of the interval; -1 if unknown. */
    static long totalBefore(ThreadUsage usage) {
        return usage.totalNanos() < 0 ? -1 : Math.max(0, usage.totalNanos() - Math.max(0, usage.cpuNanos()));
    }

    /** Returns the CPU time since the start of the thread after another interval; -1 if unknown. */
    static long sum(long totalBefore, long cpuNanos) {
        return totalBefore < 0 ? -1 : totalBefore + Math.max(0, cpuNanos);
    }
}
