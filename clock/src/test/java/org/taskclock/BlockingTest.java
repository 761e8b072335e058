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
 * Time in which a thread does not run is not counted, however it is blocked. It is blocked for less than the life of a
 * base, so a clock that misses the switch counts the time.
 */
@Tag("contract")
class BlockingTest {
    /** With fewer the test would prove little. */
    private static final long LEAST_TIMES = 100;

    private static final long LEAST_BLOCKED_NANOS = 50_000;

    @ParameterizedTest
    @EnumSource
    void shouldNotCountTimeBlocked(Blocking way) throws InterruptedException {
        shouldCountAsTheKernelDoes(way, way.measure());
    }

    @Test
    void shouldNotCountTimeBlockedWhereBasesLiveLong() {
        List<String> options = List.of("-Dtaskclock.accuracy=1ms", "-Dtaskclock.rung=" + Expected.rung());
        List<String> lines =
                ChildJvm.run(options, Blocking.class).succeeded().out().lines().toList();
        List<Blocking> ways = List.of(Blocking.values());
        for (int i = 0; i < ways.size(); i++) {
            shouldCountAsTheKernelDoes(ways.get(i), Blocking.Spent.parse(lines.get(i)));
        }
        if (!Expected.rung().startsWith("rseq")) return;
        // Otherwise sleep and wait, which take 1 ms, would prove nothing.
        assertThat(Long.parseLong(lines.get(Blocking.values().length).substring("life ".length())))
                .isGreaterThan(2_000_000);
    }

    private static void shouldCountAsTheKernelDoes(Blocking way, Blocking.Spent spent) {
        assertThat(spent.times()).as("%s: %s", way, spent).isGreaterThan(LEAST_TIMES);
        assertThat(spent.blocked()).as("%s: %s", way, spent).isGreaterThan(spent.times() * LEAST_BLOCKED_NANOS);
        // The reading before may be behind; the one after asks the kernel.
        assertThat(spent.clock())
                .as("%s: %s", way, spent)
                .isLessThan(spent.kernel() + spent.times() * Observer.MOST_BEHIND_NANOS);
        assertThat(spent.isAlike()).as("%s: %s", way, spent).isTrue();
    }

    @Test
    void shouldCountPageFaultsAsTheKernelDoes() throws InterruptedException {
        Work.onThreads(1, () -> {
            int times = 50;
            int far = 0;
            for (int i = 0; i < times; i++) {
                long before = Os.threadCpuNanos();
                long start = TaskClock.cpuNanos();
                Os.touchPages(500);
                long cpu = TaskClock.cpuNanos() - start;
                long kernel = Os.threadCpuNanos() - before;
                if (cpu < kernel / 2 || cpu > kernel + Observer.MOST_BEHIND_NANOS) far++;
            }
            // The host takes time away about once a second, so rarely twice in these milliseconds.
            assertThat(far).as("of %d", times).isLessThanOrEqualTo(times / 10);
        });
    }

    /** A stopped process uses nothing. It is stopped for less than the life of a base, so that a clock may believe it ran on. */
    @Test
    void shouldNotCountTimeInWhichTheProcessWasStopped() throws Exception {
        List<String> options = List.of("-Dtaskclock.accuracy=1ms", "-Dtaskclock.rung=" + Expected.rung());
        Process child = new ProcessBuilder(ChildJvm.command(options, Stopped.class))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader out = child.inputReader()) {
            assertThat(out.readLine()).isEqualTo("spinning");
            // The shell sends signals itself; sleep is a process, and takes a ms or two more than it says.
            String stops = "for i in $(seq 200); do kill -STOP $0 && sleep 0.001 && kill -CONT $0 && sleep 0.01; done";
            Process shell = new ProcessBuilder("sh", "-c", stops, Long.toString(child.pid()))
                    .inheritIO()
                    .start();
            assertThat(shell.waitFor()).isZero();
            child.getOutputStream().write('.');
            child.getOutputStream().flush();
            String[] counts = out.readLine().split(" ", -1);
            int times = Integer.parseInt(counts[0]);
            int counted = Integer.parseInt(counts[1]);
            assertThat(times).as("stops that the process noticed").isGreaterThan(50);
            // What the host takes away meanwhile may be counted until the next question.
            assertThat(counted).as("counted, of %d stops", times).isLessThan(times / 5);
        } finally {
            child.destroyForcibly();
        }
    }

    /** Spins on the clock until there is input; then prints how often it was stopped, and how often the clock counted that. */
    static final class Stopped {
        private static final long LEAST_NANOS = 1_000_000;

        private Stopped() {}

        public static void main(String[] args) throws IOException {
            System.out.println("spinning");
            int times = 0;
            int counted = 0;
            long wall = System.nanoTime();
            TaskClock.cpuNanos();
            for (int i = 1; i % 1_000 != 0 || System.in.available() == 0; i++) {
                long nextWall = System.nanoTime();
                long cpu = TaskClock.cpuNanos();
                if (nextWall - wall > LEAST_NANOS) {
                    times++;
                    if (cpu - Os.threadCpuNanos() > LEAST_NANOS / 2) counted++;
                    nextWall = System.nanoTime();
                }
                wall = nextWall;
            }
            System.out.println(times + " " + counted);
        }
    }
}
