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

/** How the benchmarks run that inherit this: in short iterations, of which some are free of a neighbour's noise. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 4, time = 80, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 8, time = 60, timeUnit = TimeUnit.MILLISECONDS)
abstract class Settings {
    /** System calls timed by one call of KernelReaders.timeSystemCalls: the way there and back costs each under 0.1 ns. */
    static final int BATCH = 1000;
}
