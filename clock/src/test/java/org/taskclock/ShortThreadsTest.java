// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a thread's clock keeps goes with the thread. */
class ShortThreadsTest {
    private static final int WARM_UP = 20_000;
    private static final int THREADS = 100_000;

    @Test
    void shouldLeaveNothingBehindAfterAHundredThousandThreads() {
        // A heap of fixed size, all of it touched at the start, so that what grows is native memory.
        List<String> options = List.of("-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-Xss256k");
        ChildJvm child = ChildJvm.run(options, Churn.class).succeeded();
        assertThat(child.out()).startsWith("syscall");
        long grownBytes = Long.parseLong(child.out().split("\\s+")[1]);
        // 40 bytes a thread would be 4 MB; the state of one is 48.
        assertThat(grownBytes).as(child.out()).isLessThan(3_000_000);
    }

    /** Reads the clock on many threads, one after another, and prints by how much resident memory grew. */
    static final class Churn {
        private Churn() {}

        public static void main(String[] args) throws Exception {
            run(WARM_UP);
            long before = residentBytes();
            run(THREADS);
            System.out.println(TaskClock.status().rung() + " " + (residentBytes() - before) + " bytes");
        }

        private static void run(int threads) throws InterruptedException {
            CpuTime[] spent = new CpuTime[1];
            for (int i = 0; i < threads; i++) {
                Thread thread = new Thread(() -> spent[0] = TaskClock.now());
                thread.start();
                thread.join();
                if (!spent[0].isKnown()) throw new AssertionError(spent[0]);
            }
        }

        private static long residentBytes() throws IOException {
            System.gc();
            String[] pages = Files.readString(Path.of("/proc/self/statm")).split(" ");
            return Long.parseLong(pages[1]) * 4096;
        }
    }
}
