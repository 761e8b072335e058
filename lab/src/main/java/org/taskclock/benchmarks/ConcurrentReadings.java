// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.taskclock.ClockId;

/**
 * Measures the CPU time per reading while several threads read in a tight loop. The kernel's clock is read before and
 * after many readings, so waiting for a processor is not included.
 */
final class ConcurrentReadings {
    private static final ClockId KERNEL = ClockId.thread(0, ClockId.Kind.SCHED);
    /** Longer than a time slice, so that threads are preempted within a block. */
    private static final double BLOCK_NANOS = 10e6;

    private static final int MIN_READINGS = 1_000;
    private static final int MAX_READINGS = 2_000_000;
    private static final List<ReadingLoop> CONTENDERS =
            List.of(ReadingLoop.COUNTER, ReadingLoop.NANO_TIME, ReadingLoop.STOCK_CPU, ReadingLoop.CPU_NANOS);

    /** Keeps the JIT compiler from removing the readings. */
    private static volatile long unusedSink;

    private final int threads;
    private final ExecutorService pool;
    private final CyclicBarrier start;
    private final Map<ReadingLoop, Integer> readings = new EnumMap<>(ReadingLoop.class);

    private ConcurrentReadings(int threads) {
        this.threads = threads;
        pool = Executors.newFixedThreadPool(threads);
        start = new CyclicBarrier(threads);
    }

    /** Warms up until {@code from}, by {@link System#nanoTime}, and then measures. Returns mean ns by contender. */
    static Map<String, Double> measure(int threads, int rounds, long from) throws Exception {
        ConcurrentReadings all = new ConcurrentReadings(threads);
        try {
            do all.round();
            while (System.nanoTime() - from < 0);
            Map<String, Double> means = new LinkedHashMap<>();
            for (int round = 0; round < rounds; round++)
                all.round().forEach((contender, nanos) -> means.merge(contender.text, nanos / rounds, Double::sum));
            return means;
        } finally {
            all.pool.shutdownNow();
        }
    }

    private Map<ReadingLoop, Double> round() throws Exception {
        Map<ReadingLoop, Double> nanos = new EnumMap<>(ReadingLoop.class);
        for (ReadingLoop contender : CONTENDERS) {
            double each = nanosOfReading(contender, readings.getOrDefault(contender, MIN_READINGS));
            nanos.put(contender, each);
            readings.put(contender, (int) Math.max(Math.min(BLOCK_NANOS / each, MAX_READINGS), MIN_READINGS));
        }
        return nanos;
    }

    private double nanosOfReading(ReadingLoop contender, int times) throws Exception {
        Callable<Long> block = () -> {
            start.await(); // all threads read at the same time, one block each
            long before = KERNEL.nanos();
            unusedSink = contender.read(times);
            return KERNEL.nanos() - before;
        };
        double nanos = 0;
        for (Future<Long> each : pool.invokeAll(Collections.nCopies(threads, block))) nanos += each.get();
        return nanos / threads / times;
    }
}
