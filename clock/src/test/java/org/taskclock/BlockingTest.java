// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that the clock does not count time while a thread is blocked. Threads block for less than the life of a base,
 * so a clock that misses the context switch counts the time.
 */
@Tag("contract")
class BlockingTest {
    private static final long MIN_BLOCKS = 100;

    private static final long MIN_BLOCKED_NANOS = 50_000;

    @ParameterizedTest
    @EnumSource
    void shouldNotCountBlockedTime(BlockingMethod method) throws InterruptedException {
        assertAgreesWithTheKernel(method, method.measure());
    }

    @Test
    @Tag("bases")
    void shouldNotCountBlockedTimeIfBasesLiveLong() {
        List<String> options = List.of("-Dtaskclock.accuracy=1ms", "-Dtaskclock.backend=" + ExpectedBackend.name());
        List<String> lines = ChildJvm.run(options, BlockingMethod.class)
                .succeeded()
                .out()
                .lines()
                .toList();
        List<BlockingMethod> methods = List.of(BlockingMethod.values());
        for (int i = 0; i < methods.size(); i++) {
            assertAgreesWithTheKernel(methods.get(i), BlockingMethod.Totals.parse(lines.get(i)));
        }
        if (!ExpectedBackend.name().startsWith("rseq")) return;
        // Otherwise sleep and wait, which take 1 ms, would outlast the bases.
        assertThat(Long.parseLong(lines.get(BlockingMethod.values().length).substring("life ".length())))
                .isGreaterThan(2_000_000);
    }

    private static void assertAgreesWithTheKernel(BlockingMethod method, BlockingMethod.Totals totals) {
        assertThat(totals.blocks()).as("%s: %s", method, totals).isGreaterThan(MIN_BLOCKS);
        assertThat(totals.blocked()).as("%s: %s", method, totals).isGreaterThan(totals.blocks() * MIN_BLOCKED_NANOS);
        // The first reading may be behind. The second one asks the kernel.
        assertThat(totals.clock())
                .as("%s: %s", method, totals)
                .isLessThan(totals.kernel() + totals.blocks() * ContractVerifier.MAX_LAG_NANOS);
        assertThat(totals.clocksAgree()).as("%s: %s", method, totals).isTrue();
    }

    @Test
    void shouldCountPageFaultsLikeTheKernel() throws InterruptedException {
        CpuLoad.runOnThreads(1, () -> {
            int times = 50;
            int wrong = 0;
            for (int i = 0; i < times; i++) {
                long before = SystemCalls.threadCpuNanos();
                long start = TaskClock.cpuNanos();
                SystemCalls.touchPages(500);
                long cpu = TaskClock.cpuNanos() - start;
                long kernel = SystemCalls.threadCpuNanos() - before;
                if (cpu < kernel / 2 || cpu > kernel + ContractVerifier.MAX_LAG_NANOS) wrong++;
            }
            // The host steals time about once a second, so rarely twice in these milliseconds.
            assertThat(wrong).as("wrong results of %d", times).isLessThanOrEqualTo(times / 10);
        });
    }

    /** The process is stopped for less than the life of a base, so a clock that misses the stop counts the time. */
    @Test
    @Tag("bases")
    void shouldNotCountTimeWhileTheProcessIsStopped() throws Exception {
        List<String> options = List.of("-Dtaskclock.accuracy=1ms", "-Dtaskclock.backend=" + ExpectedBackend.name());
        Process child = new ProcessBuilder(ChildJvm.command(options, SpinningProcess.class))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader out = child.inputReader()) {
            assertThat(out.readLine()).isEqualTo("spinning");
            // kill is a shell builtin. sleep is a process and takes one or two ms longer than its argument.
            String stops = "for i in $(seq 120); do kill -STOP $0 && sleep 0.001 && kill -CONT $0 && sleep 0.01; done";
            Process shell = new ProcessBuilder("sh", "-c", stops, Long.toString(child.pid()))
                    .inheritIO()
                    .start();
            assertThat(shell.waitFor()).isZero();
            child.getOutputStream().write('.');
            child.getOutputStream().flush();
            String[] counts = out.readLine().split(" ", -1);
            int stopCount = Integer.parseInt(counts[0]);
            int counted = Integer.parseInt(counts[1]);
            assertThat(stopCount).as("stops that the process detected").isGreaterThan(50);
            // Time that the host steals during a stop may be counted until the clock asks the kernel again.
            assertThat(counted).as("counted stops of %d", stopCount).isLessThan(stopCount / 5);
        } finally {
            child.destroyForcibly();
        }
    }

    /**
     * Reads the clock until there is input. Then prints how often the process was stopped and how many of these stops
     * the clock counted.
     */
    static final class SpinningProcess {
        private static final long MIN_STOP_NANOS = 1_000_000;

        private SpinningProcess() {}

        public static void main(String[] args) throws IOException {
            System.out.println("spinning");
            int stops = 0;
            int counted = 0;
            long wall = System.nanoTime();
            TaskClock.cpuNanos();
            for (int i = 1; i % 1_000 != 0 || System.in.available() == 0; i++) {
                long nextWall = System.nanoTime();
                long cpu = TaskClock.cpuNanos();
                if (nextWall - wall > MIN_STOP_NANOS) {
                    stops++;
                    if (cpu - SystemCalls.threadCpuNanos() > MIN_STOP_NANOS / 2) counted++;
                    nextWall = System.nanoTime();
                }
                wall = nextWall;
            }
            System.out.println(stops + " " + counted);
        }
    }
}
