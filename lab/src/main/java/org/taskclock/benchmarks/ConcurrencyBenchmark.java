// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.ThreadParams;
import org.taskclock.TaskClock;

/**
 * Measures whether threads that read at the same time disturb each other: with more threads than processors, and on two
 * processors.
 *
 * <p>JMH samples with System.nanoTime, whose cost (20 to 30 ns) and step (about 10 ns) would hide a single reading.
 * Therefore, ten readings are timed together, and scores are per ten readings. That is few enough that at most one
 * bracket in a hundred contains a context switch.
 */
@Warmup(iterations = 4, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 10, time = 200, timeUnit = TimeUnit.MILLISECONDS)
public class ConcurrencyBenchmark extends BenchmarkSettings {
    private static final int THREADS = 16;

    /** Keeps each thread on one processor. The first thread gets the last processor. */
    @State(Scope.Thread)
    public static class OnProcessor {
        /** Runs before each iteration, because JMH may pass the state to another thread. */
        @Setup(Level.Iteration)
        public void setUp(ThreadParams thread) {
            NativeScheduling.keepOnProcessor(thread.getThreadIndex());
        }
    }

    private static long tenReadings() {
        long sum = 0;
        for (int i = 0; i < 10; i++) sum += TaskClock.cpuNanos();
        return sum;
    }

    @Benchmark
    @BenchmarkMode(Mode.SampleTime)
    public long tenByOneThread() {
        return tenReadings();
    }

    @Benchmark
    @BenchmarkMode(Mode.SampleTime)
    @Threads(THREADS)
    public long tenBy16Threads() {
        return tenReadings();
    }

    @Benchmark
    public long onOneProcessor(OnProcessor unused) {
        return TaskClock.cpuNanos();
    }

    /** Reads on two threads. The mean equals that of one thread if they do not disturb each other. */
    @Benchmark
    @Threads(2)
    public long onTwoProcessors(OnProcessor unused) {
        return TaskClock.cpuNanos();
    }

    /**
     * Measures a control. If other programs also use the processors, even threads that share nothing reach less than
     * twice the throughput.
     */
    @Benchmark
    public long nanoTimeOnOneProcessor(OnProcessor unused) {
        return System.nanoTime();
    }

    @Benchmark
    @Threads(2)
    public long nanoTimeOnTwoProcessors(OnProcessor unused) {
        return System.nanoTime();
    }
}
