// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.opensearch;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.LongSupplier;

/** Times readings on a thread that has just woken up, as a thread of a pool does when it gets a task. */
final class Wakeups {
    private static final int COUNT = 3_000;

    private Wakeups() {}

    /** Returns the medians of the first and the second reading after waking up, in ns, System.nanoTime included. */
    static double[] nanos(LongSupplier read) throws InterruptedException {
        Semaphore wake = new Semaphore(0);
        Semaphore done = new Semaphore(0);
        List<Double> first = new ArrayList<>();
        List<Double> second = new ArrayList<>();
        Thread thread = new Thread(() -> {
            long last = 0;
            for (int i = 0; i < COUNT; i++) {
                wake.acquireUninterruptibly();
                long start = System.nanoTime();
                long one = read.getAsLong();
                long middle = System.nanoTime();
                long two = read.getAsLong();
                long end = System.nanoTime();
                if (one < last || two < one) throw new IllegalStateException("the CPU time of a thread fell");
                last = two;
                first.add((double) (middle - start));
                second.add((double) (end - middle));
                done.release();
            }
        });
        thread.start();
        for (int i = 0; i < COUNT; i++) {
            wake.release();
            done.acquire();
        }
        thread.join();
        return new double[] {Report.median(first), Report.median(second)};
    }
}
