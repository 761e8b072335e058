// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Time in which a thread does not run is not counted, whichever way it came not to run. */
@Tag("contract")
class BlockingTest {
    private static final int BLOCKED_MILLIS = 150;

    /** What falling asleep and waking up may cost, on a machine that is busy besides: far less than the time blocked. */
    private static final long OWN_COST_NANOS = BLOCKED_MILLIS * 1_000_000L / 5;

    static Stream<Map.Entry<String, Blocker>> ways() {
        return Map.<String, Blocker>of(
                "sleep", () -> Thread.sleep(BLOCKED_MILLIS),
                "park", () -> LockSupport.parkNanos(BLOCKED_MILLIS * 1_000_000L),
                "Object.wait", BlockingTest::waitOnMonitor,
                "contended monitor", BlockingTest::enterContendedMonitor,
                "contended lock", BlockingTest::lockContendedLock,
                "blocking read", BlockingTest::readEmptyPipe,
                "futex, pinned to one CPU", BlockingTest::waitPinned)
                .entrySet()
                .stream();
    }

    @ParameterizedTest
    @MethodSource("ways")
    void shouldNotCountTimeBlocked(Map.Entry<String, Blocker> way) throws InterruptedException {
        Work.onThreads(1, () -> {
            CpuTime start = TaskClock.now();
            long referenceStart = Os.threadCpuNanos();
            long wallStart = System.nanoTime();
            way.getValue().run();
            long blocked = System.nanoTime() - wallStart;
            CpuTime spent = TaskClock.now().minus(start);
            long reference = Os.threadCpuNanos() - referenceStart;

            assertThat(blocked).as("time blocked").isGreaterThan(BLOCKED_MILLIS * 1_000_000L / 2);
            assertThat(spent.cpuNanos()).isLessThan(OWN_COST_NANOS);
            assertThat(spent.userNanos() + spent.systemNanos()).isEqualTo(spent.cpuNanos());
            // The clock was read outside the reference at the start and inside it at the end.
            assertThat(spent.cpuNanos()).isLessThanOrEqualTo(reference + OWN_COST_NANOS / 10);
        });
    }

    @Test
    void shouldCountPageFaultsAsTheKernelDoes() throws InterruptedException {
        Work.onThreads(1, () -> {
            for (int i = 0; i < 50; i++) {
                long before = Os.threadCpuNanos();
                long start = TaskClock.cpuNanos();
                Os.touchPages(500);
                long cpu = TaskClock.cpuNanos() - start;
                assertThat(cpu).isBetween(1L, Os.threadCpuNanos() - before);
            }
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

    /** A way to block for {@link #BLOCKED_MILLIS}. */
    interface Blocker {
        void block() throws Exception;

        default void run() {
            try {
                block();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void waitOnMonitor() throws InterruptedException {
        Object monitor = new Object();
        long end = System.nanoTime() + BLOCKED_MILLIS * 1_000_000L;
        synchronized (monitor) {
            while (System.nanoTime() < end) monitor.wait(BLOCKED_MILLIS);
        }
    }

    private static void enterContendedMonitor() throws InterruptedException {
        Object monitor = new Object();
        CountDownLatch held = new CountDownLatch(1);
        inBackground(() -> {
            synchronized (monitor) {
                held.countDown();
                LockSupport.parkNanos(BLOCKED_MILLIS * 1_000_000L);
            }
        });
        held.await();
        synchronized (monitor) {
            assertThat(Thread.holdsLock(monitor)).isTrue();
        }
    }

    private static void lockContendedLock() throws InterruptedException {
        ReentrantLock lock = new ReentrantLock();
        CountDownLatch held = new CountDownLatch(1);
        inBackground(() -> {
            lock.lock();
            try {
                held.countDown();
                LockSupport.parkNanos(BLOCKED_MILLIS * 1_000_000L);
            } finally {
                lock.unlock();
            }
        });
        held.await();
        lock.lock();
        try {
            assertThat(lock.isHeldByCurrentThread()).isTrue();
        } finally {
            lock.unlock();
        }
    }

    private static void readEmptyPipe() throws IOException {
        Pipe pipe = Pipe.open();
        inBackground(() -> {
            LockSupport.parkNanos(BLOCKED_MILLIS * 1_000_000L);
            try {
                pipe.sink().write(ByteBuffer.allocate(1));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        pipe.source().read(ByteBuffer.allocate(1));
        pipe.source().close();
        pipe.sink().close();
    }

    private static void waitPinned() {
        assertThat(Os.pin(0)).isTrue();
        Os.futexWait(BLOCKED_MILLIS);
    }

    private static void inBackground(Runnable body) {
        new Thread(body).start();
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
