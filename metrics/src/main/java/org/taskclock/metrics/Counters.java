// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

/** What a thread or a pool has used, in an interval or since its start. Not thread-safe. */
public final class Counters {
    /** CPU time. */
    public long cpuNanos;

    /** The part of the CPU time spent in user mode. */
    public long userNanos;

    /** Time spent runnable without a processor; -1 if unknown. */
    public long waitNanos = -1;

    /** Context switches because a thread blocked; -1 if unknown. */
    public long voluntary = -1;

    /** Context switches because a thread was preempted or yielded; -1 if unknown. */
    public long involuntary = -1;

    /** Creates counters of 0. */
    public Counters() {}

    /** Adds counters. What is known in only one of the two is taken from that one. */
    public void add(Counters more) {
        cpuNanos += more.cpuNanos;
        userNanos += more.userNanos;
        waitNanos = sum(waitNanos, more.waitNanos);
        voluntary = sum(voluntary, more.voluntary);
        involuntary = sum(involuntary, more.involuntary);
    }

    /** Sets all counters to 0, and those that can be unknown to unknown. */
    public void clear() {
        cpuNanos = 0;
        userNanos = 0;
        waitNanos = -1;
        voluntary = -1;
        involuntary = -1;
    }

    /** Adds known values. Returns -1 if both are unknown. */
    public static long sum(long a, long b) {
        if (a < 0) return Math.max(-1, b);
        return b < 0 ? a : a + b;
    }
}
