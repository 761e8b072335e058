// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

/**
 * What threads used that have ended since they were last seen, or that nobody ever saw: what the process used more than all that
 * is watched.
 */
final class EndedThreads {
    private static final long MILLISECOND = 1_000_000;

    private final int pid;

    /** What of the process's time the threads that are gone account for, and what was told of them. */
    private long accounted;

    private int count;

    EndedThreads(int pid) {
        this.pid = pid;
    }

    /** What the process used before anybody watched. */
    void start(long processNanos, long liveNanos) {
        accounted = processNanos - liveNanos;
    }

    void add(Watched thread) {
        accounted += thread.total;
        count++;
    }

    /**
     * Since this was asked last.
     *
     * @param within the threads were read while they ran: what may come of that much time is waited for
     */
    long nanos(long processNanos, long liveNanos, long within) {
        long gone = processNanos - liveNanos - accounted;
        if (gone <= within + MILLISECOND) return 0;
        accounted += gone;
        return gone;
    }

    /** Those that were told of last. */
    Row row(long cpu, long user) {
        int threads = Math.max(1, count);
        count = 0;
        String name = "(ended threads)";
        return new Row(pid, 0, 0, name, false, Row.Kind.NATIVE, name, threads, cpu, user, -1, -1, -1, 'X');
    }
}
