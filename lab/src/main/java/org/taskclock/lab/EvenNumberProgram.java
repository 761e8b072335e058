// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * The program that {@code yield} measures: for a given time, threads count even numbers and optionally yield after
 * each. It runs in its own JVM, and prints a line of JSON every second and one at the end. Arguments: {@code virtual}
 * or {@code platform}, the number of threads, {@code yielding} or {@code not}, seconds.
 */
public final class EvenNumberProgram {
    static final String NAME = "even-";
    static final int STEP = 50_000;

    private static final double SHORTEST_SECONDS = 0.05;
    private static final Gson GSON = new Gson();

    /**
     * One interval.
     *
     * @param at the end of the interval, in seconds since the start
     * @param progress even numbers since the start, in units of {@link #STEP}
     */
    record Second(double at, double seconds, long progress, List<ThreadSampler.Usage> threads) {}

    /** The totals. The agent's figures are null without the agent. */
    record End(
            double seconds,
            long evenNumbers,
            AgentAccounting.VirtualUsage virtual,
            List<AgentAccounting.CarrierUsage> carriers) {}

    /** A line of output. Exactly one component is set. */
    record Line(Second second, End end) {}

    private final LongAdder progress = new LongAdder();
    private final LongAdder evenNumbers = new LongAdder();
    private final AtomicBoolean running = new AtomicBoolean(true);
    private final boolean yielding;

    private EvenNumberProgram(boolean yielding) {
        this.yielding = yielding;
    }

    public static void main(String[] args) throws InterruptedException {
        boolean virtual = args[0].equals("virtual");
        new EvenNumberProgram(args[2].equals("yielding"))
                .run(virtual, Integer.parseInt(args[1]), Double.parseDouble(args[3]));
    }

    @SuppressWarnings("ThreadPriorityCheck") // measures yields
    private void count() {
        long found = 0;
        // Overflow is harmless: time ends the loop.
        for (int number = 0; number % 2 == 0 && running.get(); number += 2) {
            found++;
            if (yielding) Thread.yield();
            if (found % STEP == 0) progress.increment();
        }
        evenNumbers.add(found);
    }

    private void run(boolean virtual, int count, double seconds) throws InterruptedException {
        AgentAccounting.carriers(); // the first call is slow
        ThreadSampler sampler = new ThreadSampler(NAME);
        List<Thread> threads = new ArrayList<>();
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) threads.add(VirtualThreadSupport.start(virtual, NAME + i, this::count));
        double last = 0;
        while (last < seconds) {
            double next = Math.floor(last + 1 + SHORTEST_SECONDS);
            sleepUntil(start + (long) (1e9 * (next + SHORTEST_SECONDS > seconds ? seconds : next)));
            double now = (System.nanoTime() - start) / 1e9;
            print(new Line(new Second(now, now - last, progress.sum(), sampler.sample()), null));
            last = now;
        }
        // Read before the threads end, because the usage of an ended platform thread is unknown.
        AgentAccounting.VirtualUsage own = AgentAccounting.virtualThreads(NAME);
        List<AgentAccounting.CarrierUsage> carriers = AgentAccounting.carriers();
        running.set(false);
        double end = (System.nanoTime() - start) / 1e9;
        for (Thread thread : threads) thread.join();
        print(new Line(null, new End(end, evenNumbers.sum(), own, carriers)));
    }

    private static void sleepUntil(long nanos) {
        long left;
        while ((left = nanos - System.nanoTime()) > 0) LockSupport.parkNanos(left);
    }

    private static void print(Line line) {
        System.out.println(GSON.toJson(line));
    }
}
