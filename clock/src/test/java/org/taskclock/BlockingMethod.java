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
 * The ways in which a thread can block. {@link #measure} blocks many times for less than the life of a base, and reads
 * the clock before and after. Also the main class of child JVMs: prints the totals of each method.
 */
enum BlockingMethod {
    SLEEP,
    PARK,
    WAIT,
    CONTENDED_MONITOR,
    CONTENDED_LOCK,
    PIPE,
    PINNED_FUTEX;

    private static final int TRIES = 3;
    private static final int MAX_BLOCKS = 120;
    /** On a busy machine, a lock is often free again before the measured thread tries to take it. */
    private static final int MAX_ROUNDS = 2_000;
    /** JDK 17 rounds this up to 1 ms for sleep and wait. With an accuracy of 1 ms, bases live for 10 ms. */
    private static final int BLOCKED_NANOS = 250_000;

    /**
     * The first base after a switch lives for an eighth of the usual time, so reading for a sixth of that time takes
     * the next base.
     */
    private static final int READING_DIVISOR = 6;

    /**
     * The totals over all times that the thread blocked, in nanoseconds.
     *
     * @param blocks how often the thread was switched out between the two readings
     * @param blocked elapsed time minus CPU time
     * @param clock CPU time between the two readings according to TaskClock
     * @param kernel CPU time according to the kernel, read just before the first reading and just after the second
     * @param difference the absolute differences between clock and kernel; absolute, because a clock that is ahead
     *     stands still the next time
     */
    record Totals(long blocks, long blocked, long clock, long kernel, long difference) {
        Totals plus(long blockedNow, long clockNow, long kernelNow) {
            return new Totals(
                    blocks + 1,
                    blocked + blockedNow,
                    clock + clockNow,
                    kernel + kernelNow,
                    difference + Math.abs(clockNow - kernelNow));
        }

        static Totals parse(String line) {
            long[] numbers = Stream.of(line.split(" "))
                    .skip(1)
                    .mapToLong(Long::parseLong)
                    .toArray();
            return new Totals(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
        }

        /**
         * Returns whether the clocks agree. The kernel's readings are one or two microseconds away from ours, a small
         * part of the cost of going to sleep and waking up.
         */
        boolean clocksAgree() {
            return difference < kernel / 2;
        }

        String format() {
            return blocks + " " + blocked + " " + clock + " " + kernel + " " + difference;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        for (BlockingMethod method : values()) {
            System.out.println(method + " " + method.measure().format());
        }
        System.out.println("life " + lifeNanos());
    }

    /** Returns the life of a base, or 0 if the backend uses none. */
    private static long lifeNanos() {
        ClockStatus.Accuracy accuracy = TaskClock.status().accuracy();
        return accuracy == null ? 0 : accuracy.lifeNanos();
    }

    /** Reads the clock for this long, so that the thread has a base with its full life when it blocks. */
    static void readFor(long nanos) {
        long end = TaskClock.cpuNanos() + nanos;
        while (TaskClock.cpuNanos() < end) CpuLoad.burnUser(100);
    }

    /**
     * Measures this method. If the host takes a processor away, the clock is ahead and then stands still until the
     * kernel catches up, so a measurement in which the clocks disagree is repeated.
     */
    Totals measure() throws InterruptedException {
        Totals totals = measureOnce();
        for (int i = 1; i < TRIES && !totals.clocksAgree(); i++) totals = measureOnce();
        return totals;
    }

    private Totals measureOnce() throws InterruptedException {
        Totals[] totals = new Totals[1];
        CpuLoad.runOnThreads(1, () -> {
            try {
                totals[0] = measure(action());
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        return totals[0];
    }

    private static Totals measure(Action action) {
        Totals totals = new Totals(0, 0, 0, 0, 0);
        long life = lifeNanos();
        try {
            for (int i = 0; i < MAX_ROUNDS && totals.blocks < MAX_BLOCKS; i++) {
                readFor(life / READING_DIVISOR);
                action.prepare();
                long switches = SystemCalls.contextSwitches();
                long wallBefore = System.nanoTime();
                long kernelBefore = SystemCalls.threadCpuNanos();
                long before = TaskClock.cpuNanos();
                action.block();
                long after = TaskClock.cpuNanos();
                long used = SystemCalls.threadCpuNanos() - kernelBefore;
                long wall = System.nanoTime() - wallBefore;
                action.release();
                // If the timer fires before the thread is switched out, the thread has not blocked.
                if (SystemCalls.contextSwitches() > switches) totals = totals.plus(wall - used, after - before, used);
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            action.end();
        }
        return totals;
    }

    private Action action() throws IOException {
        return switch (this) {
            case SLEEP -> () -> Thread.sleep(0, BLOCKED_NANOS);
            case PARK -> () -> LockSupport.parkNanos(BLOCKED_NANOS);
            case WAIT -> BlockingMethod::waitOnMonitor;
            case CONTENDED_MONITOR -> new ContendedMonitor();
            case CONTENDED_LOCK -> new ContendedLock();
            case PIPE -> new EmptyPipe();
            case PINNED_FUTEX -> new PinnedFutex();
        };
    }

    interface Action {
        default void prepare() {}

        void block() throws IOException, InterruptedException;

        default void release() {}

        default void end() {}
    }

    @SuppressWarnings("WaitNotInLoop") // waits for the timeout on purpose
    private static void waitOnMonitor() throws InterruptedException {
        Object monitor = new Object();
        synchronized (monitor) {
            monitor.wait(0, BLOCKED_NANOS);
        }
    }

    private static final class PinnedFutex implements Action {
        PinnedFutex() {
            if (!SystemCalls.pinToCpu(0)) throw new IllegalStateException("cannot pin the thread to CPU 0");
        }

        @Override
        public void block() {
            SystemCalls.waitOnFutex(BLOCKED_NANOS / 1_000);
        }
    }

    /**
     * A resource that another thread holds for {@link #BLOCKED_NANOS}, once for each request of the measured thread.
     */
    private abstract static class Contended implements Action {
        private final Semaphore requests = new Semaphore(0);
        private final Thread holder = new Thread(this::holdUntilInterrupted);
        private volatile boolean isHeld;

        /** Spins until the resource is held: blocking here would end the base. */
        @Override
        public void prepare() {
            if (!holder.isAlive()) holder.start();
            requests.release();
            while (!isHeld) CpuLoad.sink = TaskClock.cpuNanos();
            isHeld = false;
        }

        private void holdUntilInterrupted() {
            try {
                for (; ; ) {
                    requests.acquire();
                    hold();
                }
            } catch (InterruptedException | IOException e) {
                return; // end() was called
            }
        }

        abstract void hold() throws IOException;

        void holdWhileBlocked() {
            isHeld = true;
            LockSupport.parkNanos(BLOCKED_NANOS);
        }

        @Override
        public void end() {
            holder.interrupt();
        }
    }

    private static final class ContendedMonitor extends Contended {
        @Override
        synchronized void hold() {
            holdWhileBlocked();
        }

        @Override
        public synchronized void block() {
            CpuLoad.sink = 1;
        }
    }

    private static final class ContendedLock extends Contended {
        private final ReentrantLock lock = new ReentrantLock();

        @Override
        void hold() {
            lock.lock();
            try {
                holdWhileBlocked();
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
        void hold() throws IOException {
            holdWhileBlocked();
            pipe.sink().write(written.rewind());
        }

        @Override
        public void block() throws IOException {
            pipe.source().read(read.rewind());
        }
    }
}
