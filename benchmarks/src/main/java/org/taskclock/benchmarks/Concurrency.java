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
 * Whether threads that read at the same time get into each other's way: on more threads than processors, and on two
 * processors.
 *
 * <p>JMH samples by System.nanoTime, whose own 20 to 30 ns, in steps of some 10 ns, would hide one reading. So ten are timed
 * together, and given as they are: few enough that a bracket in a hundred at most meets a switch.
 */
@Warmup(iterations = 4, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 10, time = 200, timeUnit = TimeUnit.MILLISECONDS)
public class Concurrency extends Settings {
    private static final int THREADS = 16;

    /** Of a thread that stays on its processor: the last one for the first thread. */
    @State(Scope.Thread)
    public static class OnProcessor {
        /** JMH may hand the state to another of its threads for each iteration. */
        @Setup(Level.Iteration)
        public void setUp(ThreadParams thread) {
            Scheduling.keepOnProcessor(thread.getThreadIndex());
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

    /** The mean of both: where they do not disturb each other, it is as with one. */
    @Benchmark
    @Threads(2)
    public long onTwoProcessors(OnProcessor unused) {
        return TaskClock.cpuNanos();
    }

    /** What two threads that share nothing reach here: less than twice as much where others use the processors too. */
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
