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
 * What a reading costs when several threads read in a tight loop at the same time: CPU time per reading, by the kernel's clock
 * around many readings, so that waiting for a processor is not included.
 */
final class ConcurrentReadings {
    private static final ClockId KERNEL = ClockId.thread(0, ClockId.Kind.SCHED);
    /** Longer than a time slice, so that threads are preempted within a block. */
    private static final double BLOCK_NANOS = 10e6;

    private static final int FEWEST_READINGS = 1_000;
    private static final int MOST_READINGS = 2_000_000;
    private static final List<Contender> CONTENDERS =
            List.of(Contender.COUNTER, Contender.NANO_TIME, Contender.STOCK, Contender.CPU_NANOS);

    /** Written, so that no reading is compiled away. */
    private static volatile long unusedSink;

    private final int threads;
    private final ExecutorService pool;
    private final CyclicBarrier start;
    private final Map<Contender, Integer> readings = new EnumMap<>(Contender.class);

    private ConcurrentReadings(int threads) {
        this.threads = threads;
        pool = Executors.newFixedThreadPool(threads);
        start = new CyclicBarrier(threads);
    }

    /** Warms up until {@code from}, by {@link System#nanoTime}, then measures. Returns mean ns by contender. */
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

    private Map<Contender, Double> round() throws Exception {
        Map<Contender, Double> nanos = new EnumMap<>(Contender.class);
        for (Contender contender : CONTENDERS) {
            double each = nanosOfReading(contender, readings.getOrDefault(contender, FEWEST_READINGS));
            nanos.put(contender, each);
            readings.put(contender, (int) Math.max(Math.min(BLOCK_NANOS / each, MOST_READINGS), FEWEST_READINGS));
        }
        return nanos;
    }

    private double nanosOfReading(Contender contender, int times) throws Exception {
        Callable<Long> block = () -> {
            start.await(); // all threads read at once, and each runs one block
            long before = KERNEL.nanos();
            unusedSink = contender.read(times);
            return KERNEL.nanos() - before;
        };
        double nanos = 0;
        for (Future<Long> each : pool.invokeAll(Collections.nCopies(threads, block))) nanos += each.get();
        return nanos / threads / times;
    }
}
