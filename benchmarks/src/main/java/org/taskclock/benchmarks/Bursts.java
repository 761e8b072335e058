// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.locks.LockSupport;
import org.taskclock.ClockId;

/**
 * What workloads are made of: bursts of user and of system time, each between two readings of the precise clock. The sums
 * are the truth that readers are compared with. One thread at a time.
 *
 * <p>From {@link #start} on, every nanosecond of the thread falls between two readings. Each interval holds the cost of one
 * reading, which is taken off and counts for nothing.
 */
final class Bursts {
    private static final ClockId PRECISE = ClockId.thread(0, ClockId.Kind.SCHED);
    /** One read of so much keeps the kernel busy for some 30 us, of which the way there and back is 2 %. */
    private static final int BYTES = 1 << 20;

    private static final int CALIBRATIONS = 50_000;
    private static final long SAMPLE_EVERY_NANOS = 50_000_000;

    private final FileChannel zeros;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);
    private final Runnable sampler;
    private final long readingNanos;

    private long last;
    private long nextSample = System.nanoTime();
    private long userNanos;
    private long systemNanos;
    private long arithmetic;

    /** The sampler is called by the working thread every 50 ms or so; its time counts for nothing. */
    Bursts(FileChannel zeros, Runnable sampler) {
        this.zeros = zeros;
        this.sampler = sampler;
        readingNanos = costOfReading();
    }

    private static long costOfReading() {
        long least = Long.MAX_VALUE;
        long previous = PRECISE.nanos();
        for (int i = 0; i < CALIBRATIONS; i++) {
            long now = PRECISE.nanos();
            least = Math.min(least, now - previous);
            previous = now;
        }
        return least;
    }

    /** To be called first by each thread that works. */
    void start() {
        last = PRECISE.nanos();
    }

    /** Arithmetic until System.nanoTime() says so. That is read without entering the kernel. */
    void user(long untilNanos) {
        long value = arithmetic;
        while (System.nanoTime() - untilNanos < 0) {
            for (int i = 0; i < 1000; i++) value = value * 6364136223846793005L + 1442695040888963407L;
        }
        arithmetic = value;
        userNanos += lap();
    }

    /** One read or more of /dev/zero. */
    void system(long untilNanos) {
        try {
            do {
                buffer.clear();
                zeros.read(buffer);
            } while (System.nanoTime() - untilNanos < 0);
        } catch (IOException e) {
            throw new IllegalStateException("cannot read /dev/zero", e);
        }
        systemNanos += lap();
    }

    /** Counts for nothing: a yield is too short to measure its way through the JVM apart from the kernel's. */
    @SuppressWarnings("ThreadPriorityCheck") // yields are what is measured
    void yields(int count) {
        for (int i = 0; i < count; i++) Thread.yield();
        lap();
    }

    void sleep(long untilNanos) {
        long left;
        while ((left = untilNanos - System.nanoTime()) > 0) LockSupport.parkNanos(left);
        systemNanos += lap();
    }

    private long lap() {
        long spent = interval();
        if (System.nanoTime() - nextSample >= 0) {
            sampler.run();
            nextSample = System.nanoTime() + SAMPLE_EVERY_NANOS;
            interval();
        }
        return spent;
    }

    private long interval() {
        long now = PRECISE.nanos();
        long spent = now - last - readingNanos;
        last = now;
        return spent;
    }

    long userNanos() {
        return userNanos;
    }

    long systemNanos() {
        return systemNanos;
    }
}
