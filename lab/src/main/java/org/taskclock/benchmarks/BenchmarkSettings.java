// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

/** JMH settings for benchmarks: short iterations, so that other programs do not disturb all of them. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 4, time = 80, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 8, time = 60, timeUnit = TimeUnit.MILLISECONDS)
abstract class BenchmarkSettings {
    /**
     * System calls per call of KernelReaders.timeSystemCalls. The overhead of the call is less than 0.1 ns per system
     * call.
     */
    static final int BATCH = 1000;
}
