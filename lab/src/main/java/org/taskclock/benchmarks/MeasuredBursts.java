// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.locks.LockSupport;
import org.taskclock.ClockId;

/**
 * Bursts of user and system time that make up workloads. The precise clock is read before and after each burst. The
 * sums are the true values for the comparison with readers. Used by one thread at a time.
 *
 * <p>After {@link #start}, every nanosecond of the thread lies between two readings. Each interval includes the cost of
 * one reading, which is subtracted and not attributed.
 */
final class MeasuredBursts {
    private static final ClockId PRECISE = ClockId.thread(0, ClockId.Kind.SCHED);
    /** A read of this size keeps the kernel busy for about 30 us; entering and leaving the kernel takes 2 % of that. */
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

    /** @param sampler called by the working thread about every 50 ms; its time is not attributed */
    MeasuredBursts(FileChannel zeros, Runnable sampler) {
        this.zeros = zeros;
        this.sampler = sampler;
        readingNanos = costOfReading();
    }

    private static long costOfReading() {
        long shortest = Long.MAX_VALUE;
        long previous = PRECISE.nanos();
        for (int i = 0; i < CALIBRATIONS; i++) {
            long now = PRECISE.nanos();
            shortest = Math.min(shortest, now - previous);
            previous = now;
        }
        return shortest;
    }

    /** Starts timing the calling thread. Each working thread calls this first. */
    void start() {
        last = PRECISE.nanos();
    }

    /** Does arithmetic until a time of System.nanoTime(), which is read without entering the kernel. */
    void user(long untilNanos) {
        long value = arithmetic;
        while (System.nanoTime() - untilNanos < 0) {
            for (int i = 0; i < 1000; i++) value = value * 6364136223846793005L + 1442695040888963407L;
        }
        arithmetic = value;
        userNanos += lap();
    }

    /** Reads /dev/zero until a time of System.nanoTime(), at least once. */
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

    /** Yields. The time is not attributed: a yield is too short to separate the JVM's part from the kernel's. */
    @SuppressWarnings("ThreadPriorityCheck") // measures yields
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
