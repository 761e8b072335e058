// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Uses CPU time in user mode or in the kernel. */
final class CpuLoad {
    /** Stores results so that the compiler cannot eliminate their computation. */
    static volatile long sink;

    private static final byte[] BUFFER = new byte[64 * 1024];

    private CpuLoad() {}

    static void burnUser(int rounds) {
        long x = sink;
        for (int i = 0; i < rounds; i++) x = x * 6364136223846793005L + 1442695040888963407L;
        sink = x;
    }

    /** Makes the kernel clear pages, which uses almost only system time. */
    static void burnSystem(int reads) {
        try (FileInputStream zero = new FileInputStream("/dev/zero")) {
            for (int i = 0; i < reads; i++) sink = zero.read(BUFFER);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs {@code body} on {@code count} new threads and waits for them to end. Rethrows a failure. */
    static void runOnThreads(int count, Runnable body) throws InterruptedException {
        Throwable[] failure = new Throwable[1];
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] = new Thread(body, "work-" + i);
            threads[i].setUncaughtExceptionHandler((t, e) -> failure[0] = e);
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        if (failure[0] != null) throw new AssertionError(failure[0]);
    }
}
