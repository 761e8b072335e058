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

/** What a thread's clock keeps goes with the thread. */
class ShortThreadsTest {
    private static final int ROUND = 15_000;
    private static final int ROUNDS = 3;
    private static final int AT_ONCE = 20;

    @Test
    void shouldLeaveNothingBehindAfterThousandsOfThreads() {
        // A heap of fixed size, all of it touched at the start, so that what grows is native memory.
        List<String> options = List.of("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-Xss256k");
        ChildJvm child = ChildJvm.run(options, Churn.class).succeeded();
        long grownBytes = Long.parseLong(child.out().trim());
        // The state of a thread has some 120 bytes: 1.8 MB a round if it stayed. A JVM grows on its own too, less.
        assertThat(grownBytes).as(child.out()).isLessThan(1_200_000);
    }

    /** Reads the clock on many threads, one after another, and prints by how much resident memory grew at least. */
    static final class Churn {
        private Churn() {}

        public static void main(String[] args) throws Exception {
            if (TaskClock.status().rung() == Rung.MXBEAN) throw new AssertionError(TaskClock.status());
            run(ROUND);
            long least = Long.MAX_VALUE;
            for (int round = 0; round < ROUNDS; round++) {
                long before = residentBytes();
                run(ROUND);
                least = Math.min(least, residentBytes() - before);
            }
            System.out.println(least);
        }

        private static void run(int threads) throws InterruptedException {
            CpuTime[] spent = new CpuTime[AT_ONCE];
            Thread[] batch = new Thread[AT_ONCE];
            for (int i = 0; i < threads; i += AT_ONCE) {
                for (int k = 0; k < AT_ONCE; k++) {
                    int slot = k;
                    batch[k] = new Thread(() -> spent[slot] = TaskClock.now());
                    batch[k].start();
                }
                for (int k = 0; k < AT_ONCE; k++) {
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
