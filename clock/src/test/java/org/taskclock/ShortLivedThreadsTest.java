// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Scanner;
import org.junit.jupiter.api.Test;

/** Tests that the state of a thread's clock is freed when the thread ends. */
class ShortLivedThreadsTest {
    private static final int THREADS_PER_ROUND = 15_000;
    /** The JVM may grow in the first one. */
    private static final int MAX_ROUNDS = 3;

    /**
     * The state of a thread takes about 120 bytes, so a leak would be 1.8 MB per round. The JVM itself grows by less.
     */
    private static final long MAX_GROWN_BYTES = 1_200_000;

    private static final int CONCURRENT_THREADS = 20;

    @Test
    void shouldFreeTheStateOfThousandsOfThreads() {
        // The heap has a fixed size and is touched at startup, so only native memory can grow.
        List<String> options = List.of("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-Xss256k");
        ChildJvm child = ChildJvm.run(options, ThreadChurn.class).succeeded();
        long grownBytes = Long.parseLong(child.out().trim());
        assertThat(grownBytes).as(child.out()).isLessThan(MAX_GROWN_BYTES);
    }

    /** Reads the clock on many short-lived threads and prints the smallest growth of resident memory in a round. */
    static final class ThreadChurn {
        private ThreadChurn() {}

        public static void main(String[] args) throws Exception {
            if (TaskClock.status().backend() == Backend.MXBEAN) throw new AssertionError(TaskClock.status());
            run(THREADS_PER_ROUND);
            long min = Long.MAX_VALUE;
            for (int round = 0; round < MAX_ROUNDS && min >= MAX_GROWN_BYTES; round++) {
                long before = residentBytes();
                run(THREADS_PER_ROUND);
                min = Math.min(min, residentBytes() - before);
            }
            System.out.println(min);
        }

        private static void run(int threads) throws InterruptedException {
            CpuTime[] spent = new CpuTime[CONCURRENT_THREADS];
            Thread[] batch = new Thread[CONCURRENT_THREADS];
            for (int i = 0; i < threads; i += CONCURRENT_THREADS) {
                for (int k = 0; k < CONCURRENT_THREADS; k++) {
                    int slot = k;
                    batch[k] = new Thread(() -> spent[slot] = TaskClock.now());
                    batch[k].start();
                }
                for (int k = 0; k < CONCURRENT_THREADS; k++) {
                    batch[k].join();
                    if (!spent[k].isKnown()) throw new AssertionError(spent[k]);
                }
            }
        }

        private static long residentBytes() throws IOException {
            System.gc();
            try (Scanner pages = new Scanner(Path.of("/proc/self/statm"), StandardCharsets.US_ASCII)) {
                pages.nextLong(); // virtual memory
                return pages.nextLong() * 4096;
            }
        }
    }
}
