// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.testing;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;

/** Work on any threads, whose CPU time ThreadMXBean measures on these threads. */
public class MeasuredWork {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long PORTION_NANOS = 5_000_000;

    private final LongAdder nanos = new LongAdder();
    private final LongAdder portions = new LongAdder();
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    /** Creates work that has not run. */
    public MeasuredWork() {}

    /** Does one portion, which takes 5 ms of CPU time. */
    public final void run() {
        threads.add(Thread.currentThread());
        long start = THREADS.getCurrentThreadCpuTime();
        long now;
        do {
            now = THREADS.getCurrentThreadCpuTime();
        } while (now - start < PORTION_NANOS);
        nanos.add(now - start);
        portions.increment();
    }

    /** Does one portion and returns the argument. */
    public final <T> T run(T value) {
        run();
        return value;
    }

    /** Does several portions. */
    public final void repeat(int count) {
        for (int i = 0; i < count; i++) run();
    }

    /** Returns the CPU time of all portions. */
    public final long nanos() {
        return nanos.sum();
    }

    /** Returns how many portions were done. */
    public final long portions() {
        return portions.sum();
    }

    /** Returns the threads that worked. */
    public final Set<Thread> threads() {
        return threads;
    }

    /**
     * Fails unless a figure agrees with the CPU time of this work. What measured the figure also includes the code
     * between the portions, which is slow before the JVM has compiled it, and may have been ahead of the kernel by the
     * time that a hypervisor stole within 10 ms.
     */
    public final void assertNanos(long measured) {
        long min = nanos() - nanos() / 100 - 3_000_000;
        long max = nanos() + nanos() / 4 + 40_000_000;
        if (portions() == 0 || measured < min || measured > max)
            throw new AssertionError("measured " + measured + " ns for " + portions() + " portions that took " + nanos()
                    + " ns: not between " + min + " and " + max);
    }

    /** Waits for a condition for at most 30 s. */
    public static void await(BooleanSupplier condition, String otherwise) {
        long end = System.nanoTime() + 30_000_000_000L;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) throw new AssertionError(otherwise);
            Thread.onSpinWait();
        }
    }
}
