// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Threads that park until the JVM exits. */
final class ParkedThreads {
    /** The smallest possible value. The JVM raises it to its minimum. */
    private static final long STACK_BYTES = 1;

    private ParkedThreads() {}

    /** Starts threads and returns their Java ids once all are running. */
    static long[] start(int count) throws InterruptedException {
        CountDownLatch running = new CountDownLatch(count);
        long[] ids = new long[count];
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(null, () -> park(running), "parked " + i, STACK_BYTES);
            thread.setDaemon(true);
            thread.start();
            ids[i] = thread.getId();
        }
        running.await();
        return ids;
    }

    private static void park(CountDownLatch running) {
        running.countDown();
        while (true) LockSupport.park();
    }
}
