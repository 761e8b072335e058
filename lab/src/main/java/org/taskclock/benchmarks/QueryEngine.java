// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedTransferQueue;

/**
 * A program shaped like a query engine: drivers take splits from a queue and read a clock before and after each
 * operator call. Blocks of the same work alternate between clocks, so that a disturbance of the machine affects all of
 * them.
 */
final class QueryEngine implements AutoCloseable {
    private static final int DRIVERS = 4;
    private static final int QUANTA = 10;
    private static final int CYCLES_PER_ROUND = 40;
    private static final List<ReadingLoop> CLOCKS =
            List.of(ReadingLoop.NOTHING, ReadingLoop.STOCK_CPU, ReadingLoop.CPU_NANOS);
    private static final int ROWS_TIMED = 20_000;
    private static final int TIMES = 500;

    private final LinkedTransferQueue<QueryDriver.Split> splits = new LinkedTransferQueue<>();
    private final List<QueryDriver> drivers = new ArrayList<>();
    private final List<ReadingLoop> clocks = new ArrayList<>(CLOCKS);
    private final QueryPlan plan;

    private QueryEngine() throws InterruptedException {
        // One per processor, but fewer than drivers, so that a driver always waits after its quantum.
        int inFlight = Math.min(Runtime.getRuntime().availableProcessors(), DRIVERS - 1);
        plan = new QueryPlan(inFlight, QUANTA, rowsPerMicro());
        CountDownLatch started = new CountDownLatch(DRIVERS);
        for (int i = 0; i < DRIVERS; i++) drivers.add(new QueryDriver(splits, started));
        drivers.forEach(Thread::start);
        started.await();
    }

    /**
     * Warms up until {@code from}, by {@link System#nanoTime}, and then measures.
     *
     * @param neighbors spinning threads per processor
     */
    static CadenceResult.EngineCost measure(int neighbors, int rounds, long from) throws InterruptedException {
        try (QueryEngine engine = new QueryEngine()) {
            for (int i = 0; i < neighbors; i++) startNeighbors();
            do engine.cycle(false);
            while (System.nanoTime() - from < 0);
            Map<String, List<Long>> nanos = new LinkedHashMap<>();
            for (ReadingLoop clock : CLOCKS) nanos.put(clock.text, new ArrayList<>());
            for (int cycle = 0; cycle < rounds * CYCLES_PER_ROUND; cycle++)
                engine.cycle(true).forEach((clock, cpu) -> nanos.get(clock.text).add(cpu));
            ReadingErrors errors = new ReadingErrors();
            for (QueryDriver driver : engine.drivers) errors.add(driver.errors());
            return new CadenceResult.EngineCost(engine.plan.calls(), nanos, errors.summary("engine"));
        }
    }

    private static void startNeighbors() {
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
            int processor = i;
            Thread neighbor = new Thread(
                    () -> {
                        NativeScheduling.keepOnProcessor(processor);
                        while (true) Thread.onSpinWait();
                    },
                    "neighbor");
            neighbor.setDaemon(true);
            neighbor.start();
        }
    }

    /** Measures the speed as the fastest of many runs, because the first ones are interpreted. */
    private static double rowsPerMicro() {
        QueryDriver.Operator operator = new QueryDriver.Operator();
        long quickest = Long.MAX_VALUE;
        for (int i = 0; i < TIMES; i++) {
            long start = System.nanoTime();
            operator.process(ROWS_TIMED);
            quickest = Math.min(quickest, System.nanoTime() - start);
        }
        return ROWS_TIMED * 1e3 / quickest;
    }

    /** Returns the CPU time of a block with each clock. */
    private Map<ReadingLoop, Long> cycle(boolean recorded) throws InterruptedException {
        Collections.reverse(clocks); // cancels drift
        Map<ReadingLoop, Long> nanos = new LinkedHashMap<>();
        for (ReadingLoop clock : clocks) nanos.put(clock, cpuNanos(clock, recorded));
        cpuNanos(null, recorded);
        return nanos;
    }

    private long cpuNanos(ReadingLoop clock, boolean recorded) throws InterruptedException {
        QueryDriver.Work work = new QueryDriver.Work(plan, clock, recorded, new CountDownLatch(plan.splits()));
        long before = cpuNanos();
        for (int i = 0; i < plan.splits(); i++) splits.put(new QueryDriver.Split(work, i));
        work.splitsLeft().await();
        return cpuNanos() - before;
    }

    private long cpuNanos() {
        return drivers.stream().mapToLong(QueryDriver::cpuNanos).sum();
    }

    @Override
    public void close() {
        drivers.forEach(Thread::interrupt);
    }
}
