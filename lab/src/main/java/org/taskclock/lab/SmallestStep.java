// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.taskclock.benchmarks.ReadingLoop;

/** Measures the smallest step of a clock between two consecutive readings. */
final class SmallestStep {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** Without system calls, system time would not advance. */
    private static final int READINGS_PER_SYSTEM_CALL = 8;

    /** On a busy machine, a clock may not step within the given time. */
    private static final int MAX_TIMES_LONGER = 8;

    private SmallestStep() {}

    /**
     * Returns the step in ns, or -1 if there is no clock, or if it cannot be read or did not advance in eight times the
     * given time.
     */
    static long measure(ReadingLoop loop, long nanos) {
        if (loop == ReadingLoop.NOTHING) return -1;
        long smallest = Long.MAX_VALUE;
        long start = System.nanoTime();
        long last = loop.read(1);
        long calls = 0;
        for (int i = 1; ; i++) {
            long elapsed = System.nanoTime() - start;
            if (elapsed > MAX_TIMES_LONGER * nanos || (elapsed > nanos && smallest < Long.MAX_VALUE)) break;
            if (i % READINGS_PER_SYSTEM_CALL == 0) calls += THREADS.getCurrentThreadCpuTime();
            long now = loop.read(1);
            if (now > last) smallest = Math.min(smallest, now - last);
            last = now;
        }
        // The sum is never MIN_VALUE: the test keeps the JIT compiler from removing the calls.
        return smallest == Long.MAX_VALUE || calls == Long.MIN_VALUE ? -1 : smallest;
    }
}
