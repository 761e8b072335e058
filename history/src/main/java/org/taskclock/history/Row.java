// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

/** The usage of a pool, thread, or process in one second that has not been written yet. */
final class Row {
    final int time;
    final int jvm;
    /** The pool or thread; 0 for a process. */
    final int series;

    long userNanos;
    long systemNanos;

    /** The maximum number of threads. */
    int threads;

    /** -1 if unknown, like the following fields. */
    long waitNanos = -1;

    long containerNanos = -1;
    long throttledNanos = -1;
    double limit = -1;

    Row(int time, int jvm, int series) {
        this.time = time;
        this.jvm = jvm;
        this.series = series;
    }

    void add(Row other) {
        userNanos += other.userNanos;
        systemNanos += other.systemNanos;
        threads = Math.max(threads, other.threads);
        waitNanos = sum(waitNanos, other.waitNanos);
        containerNanos = sum(containerNanos, other.containerNanos);
        throttledNanos = sum(throttledNanos, other.throttledNanos);
        limit = Math.max(limit, other.limit);
    }

    static long sum(long a, long b) {
        if (a < 0) return Math.max(-1, b);
        return b < 0 ? a : a + b;
    }
}
