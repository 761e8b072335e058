// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
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

    /** A process that is stopped uses nothing, though its clock on the wall goes on. */
    @Test
    void shouldNotCountTimeInWhichTheProcessWasStopped() throws Exception {
        List<String> options = List.of("-Dtaskclock.rung=" + Expected.rung());
        Process child = new ProcessBuilder(ChildJvm.command(options, Stopped.class))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader out = child.inputReader()) {
            assertThat(out.readLine()).isEqualTo("spinning");
            signal("-STOP", child.pid());
            awaitState(child.pid(), 'T');
            // Not to synchronise: this is the time that must not be counted.
            Thread.sleep(Stopped.GAP_MILLIS * 2);
            signal("-CONT", child.pid());
            assertThat(out.readLine()).endsWith(": not counted");
        } finally {
            child.destroyForcibly();
        }
    }

    /** Spins on the clock until the wall has moved by a gap that only being stopped explains. */
    static final class Stopped {
        static final int GAP_MILLIS = 300;

        private Stopped() {}

        public static void main(String[] args) {
            System.out.println("spinning");
            long gap = GAP_MILLIS * 1_000_000L;
            long wall = System.nanoTime();
            long cpu = TaskClock.cpuNanos();
            for (; ; ) {
                long nextWall = System.nanoTime();
                long nextCpu = TaskClock.cpuNanos();
                if (nextWall - wall > gap) {
                    boolean counted = nextCpu - cpu > gap / 5;
                    System.out.println("stopped for " + (nextWall - wall) + " ns, of which " + (nextCpu - cpu)
                            + " ns are cpu: " + (counted ? "counted" : "not counted"));
                    return;
                }
                wall = nextWall;
                cpu = nextCpu;
            }
        }
    }

    private static void signal(String name, long pid) throws IOException, InterruptedException {
        Process kill =
                new ProcessBuilder("kill", name, Long.toString(pid)).inheritIO().start();
        assertThat(kill.waitFor()).isZero();
    }

    private static void awaitState(long pid, char state) throws InterruptedException, IOException {
        Path stat = Path.of("/proc/" + pid + "/stat");
        for (int i = 0; i < 1_000; i++) {
            byte[] text = Files.readAllBytes(stat);
            if (ProcStat.parse(text, text.length).state() == state) return;
            TimeUnit.MILLISECONDS.sleep(5);
        }
        throw new AssertionError("process " + pid + " is not in state " + state);
    }
}
