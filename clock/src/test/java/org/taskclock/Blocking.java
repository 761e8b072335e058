// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * Ways to block. {@link #measure} blocks many times for less than the life of a base, and reads the clock before and
 * after. Also the main class of child JVMs, which print the measurements.
 */
enum Blocking {
    SLEEP,
    PARK,
    WAIT,
    CONTENDED_MONITOR,
    CONTENDED_LOCK,
    PIPE,
    PINNED_FUTEX;

    private static final int TRIES = 3;
    private static final int TIMES = 200;
    /** On a busy machine a lock is often free again before the measured thread gets to it. */
    private static final int MOST_ROUNDS = 2_000;
    /** JDK 17 rounds it up to 1 ms for sleep and wait. At an accuracy of 1 ms, bases live for 10 ms. */
    private static final int BLOCKED_NANOS = 250_000;

    /**
     * The first base after a switch lives for an eighth of the usual time; reading for a sixth of it gets to the next
     * one.
     */
    private static final int OUTLIVES_THE_FIRST = 6;

    /**
     * Totals over all times that the thread blocked, in nanoseconds.
     *
     * @param times how often it was switched out between the two readings
     * @param blocked elapsed time less CPU time
     * @param clock CPU time between the two readings, by TaskClock
     * @param kernel the same by the kernel's clock, read just before the first and just after the second
     * @param off the absolute differences of the two: a clock that is ahead stands still the next time
     */
    record Spent(long times, long blocked, long clock, long kernel, long off) {
        Spent plus(long blockedNow, long clockNow, long kernelNow) {
            long offNow = Math.abs(clockNow - kernelNow);
            return new Spent(times + 1, blocked + blockedNow, clock + clockNow, kernel + kernelNow, off + offNow);
        }

        static Spent parse(String line) {
            long[] numbers = Stream.of(line.split(" "))
                    .skip(1)
                    .mapToLong(Long::parseLong)
                    .toArray();
            return new Spent(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
        }

        /**
         * Whether the clocks agree. The kernel's readings are a microsecond or two away from ours, a small part of what
         * falling asleep and waking up costs.
         */
        boolean isAlike() {
            return off < kernel / 2;
        }

        String print() {
            return times + " " + blocked + " " + clock + " " + kernel + " " + off;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        for (Blocking way : values()) {
            System.out.println(way + " " + way.measure().print());
        }
        System.out.println("life " + lifeNanos());
    }

    /** How long a base lives; 0 if there are none. */
    private static long lifeNanos() {
        ClockStatus.Accuracy accuracy = TaskClock.status().accuracy();
        return accuracy == null ? 0 : accuracy.lifeNanos();
    }

    /** Keeps reading, so that the thread has a base with its full life when it blocks. */
    static void readFor(long nanos) {
        long end = TaskClock.cpuNanos() + nanos;
        while (TaskClock.cpuNanos() < end) Work.user(100);
    }

    /**
     * Blocks this way. If the host takes a processor away, the clock is ahead and then stands still until the kernel
     * catches up, so a result that looks wrong is tried again.
     */
    Spent measure() throws InterruptedException {
        Spent spent = measureOnce();
        for (int i = 1; i < TRIES && !spent.isAlike(); i++) spent = measureOnce();
        return spent;
    }

    private Spent measureOnce() throws InterruptedException {
        Spent[] spent = new Spent[1];
        Work.onThreads(1, () -> {
            try {
                spent[0] = measure(way());
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        return spent[0];
    }

    private static Spent measure(Way way) {
        Spent spent = new Spent(0, 0, 0, 0, 0);
        long life = lifeNanos();
        try {
            for (int i = 0; i < MOST_ROUNDS && spent.times < TIMES; i++) {
                readFor(life / OUTLIVES_THE_FIRST);
                way.prepare();
                long switches = Os.switches();
                long wallBefore = System.nanoTime();
                long kernelBefore = Os.threadCpuNanos();
                long before = TaskClock.cpuNanos();
                way.block();
                long after = TaskClock.cpuNanos();
                long used = Os.threadCpuNanos() - kernelBefore;
                long wall = System.nanoTime() - wallBefore;
                way.release();
                // If the timer fires before the thread is switched out, it was not blocked.
                if (Os.switches() > switches) spent = spent.plus(wall - used, after - before, used);
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            way.end();
        }
        return spent;
    }

    private Way way() throws IOException {
        return switch (this) {
            case SLEEP -> () -> Thread.sleep(0, BLOCKED_NANOS);
            case PARK -> () -> LockSupport.parkNanos(BLOCKED_NANOS);
            case WAIT -> Blocking::waitOnMonitor;
            case CONTENDED_MONITOR -> new ContendedMonitor();
            case CONTENDED_LOCK -> new ContendedLock();
            case PIPE -> new EmptyPipe();
            case PINNED_FUTEX -> new PinnedFutex();
        };
    }

    interface Way {
        default void prepare() {}

        void block() throws IOException, InterruptedException;

        default void release() {}

        default void end() {}
    }

    @SuppressWarnings("WaitNotInLoop") // to wait for the timeout is the point
    private static void waitOnMonitor() throws InterruptedException {
        Object monitor = new Object();
        synchronized (monitor) {
            monitor.wait(0, BLOCKED_NANOS);
        }
    }

    private static final class PinnedFutex implements Way {
        PinnedFutex() {
            if (!Os.pin(0)) throw new IllegalStateException("cannot be pinned");
        }

        @Override
        public void block() {
            Os.futexWait(BLOCKED_NANOS / 1_000);
        }
    }

    /** A second thread holds what the measured thread needs, for the time to be blocked, each time it is asked to. */
    private abstract static class Contended implements Way {
        private final Semaphore asked = new Semaphore(0);
        private final Thread keeper = new Thread(this::keepUntilInterrupted);
        private volatile boolean isKept;

        /** Spins until it is held: to block here would end the base. */
        @Override
        public void prepare() {
            if (!keeper.isAlive()) keeper.start();
            asked.release();
            while (!isKept) Work.sink = TaskClock.cpuNanos();
            isKept = false;
        }

        private void keepUntilInterrupted() {
            try {
                for (; ; ) {
                    asked.acquire();
                    keep();
                }
            } catch (InterruptedException | IOException e) {
                return; // the end
            }
        }

        abstract void keep() throws IOException;

        void keeping() {
            isKept = true;
            LockSupport.parkNanos(BLOCKED_NANOS);
        }

        @Override
        public void end() {
            keeper.interrupt();
        }
    }

    private static final class ContendedMonitor extends Contended {
        @Override
        synchronized void keep() {
            keeping();
        }

        @Override
        public synchronized void block() {
            Work.sink = 1;
        }
    }

    private static final class ContendedLock extends Contended {
        private final ReentrantLock lock = new ReentrantLock();

        @Override
        void keep() {
            lock.lock();
            try {
                keeping();
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void block() {
            lock.lock();
        }

        @Override
        public void release() {
            lock.unlock();
        }
    }

    private static final class EmptyPipe extends Contended {
        private final Pipe pipe = Pipe.open();
        private final ByteBuffer written = ByteBuffer.allocate(1);
        private final ByteBuffer read = ByteBuffer.allocate(1);

        EmptyPipe() throws IOException {}

        @Override
        void keep() throws IOException {
            keeping();
            pipe.sink().write(written.rewind());
        }

        @Override
        public void block() throws IOException {
            pipe.source().read(read.rewind());
        }
    }
}
