// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

/**
 * The CPU time of threads that ended since their last reading or were never read: the CPU time of the process beyond
 * that of all tracked threads.
 */
final class EndedThreads {
    private static final long MILLISECOND = 1_000_000;

    private final int pid;

    /**
     * CPU time of ended threads that no longer needs to be reported: from before the first reading, from the threads'
     * own readings, or already returned by {@link #advance}.
     */
    private long accountedNanos;

    private int count;

    EndedThreads(int pid) {
        this.pid = pid;
    }

    /** Excludes the CPU time of threads that ended before the first reading. */
    void start(long processNanos, long liveNanos) {
        accountedNanos = processNanos - liveNanos;
    }

    void add(TrackedThread thread) {
        accountedNanos += thread.totalNanos;
        count++;
    }

    /**
     * Returns the CPU time of ended threads that was not reported before.
     *
     * @param uncertainty the error of the result, because threads run while they are read; a smaller result is kept for
     *     a later call
     */
    long advance(long processNanos, long liveNanos, long uncertainty) {
        long ended = processNanos - liveNanos - accountedNanos;
        if (ended <= uncertainty + MILLISECOND) return 0;
        accountedNanos += ended;
        return ended;
    }

    /** Returns the usage of the threads that ended since the last call. */
    ThreadUsage usage(long cpu, long user) {
        int threads = Math.max(1, count);
        count = 0;
        String name = "(ended threads)";
        return new ThreadUsage(
                pid, 0, 0, name, false, ThreadUsage.Kind.NATIVE, name, threads, cpu, user, -1, -1, -1, 'X');
    }
}
