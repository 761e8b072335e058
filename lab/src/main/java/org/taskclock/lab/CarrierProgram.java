// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.taskclock.KernelReaders;

/**
 * The program that {@code carriers} measures: one virtual thread that yields and records after each yield which kernel
 * thread it runs on. Argument: seconds.
 */
public final class CarrierProgram {
    static final String NAME = "yielding-";

    /** One carrier. The last two figures are 0 without the agent. */
    record Carrier(ThreadSampler.Usage usage, long visits, long carriedNanos, long ownNanos) {}

    record Figures(double seconds, long yields, long moves, long cpuNanos, List<Carrier> carriers) {}

    private static volatile boolean running = true;

    private final Map<Integer, long[]> visits = new TreeMap<>();
    private long yields;
    private long moves;

    private CarrierProgram() {}

    public static void main(String[] args) throws InterruptedException {
        long nanos = (long) (Double.parseDouble(args[0]) * 1e9);
        AgentAccounting.carriers(); // the first call is slow
        ThreadSampler sampler = new ThreadSampler(NAME);
        CarrierProgram program = new CarrierProgram();
        long start = System.nanoTime();
        Thread thread = VirtualThreadSupport.start(NAME + 0, program::yieldAndRecord);
        long left;
        while ((left = start + nanos - System.nanoTime()) > 0) LockSupport.parkNanos(left);
        List<ThreadSampler.Usage> usages = sampler.sample();
        AgentAccounting.VirtualUsage own = AgentAccounting.virtualThreads(NAME);
        List<AgentAccounting.CarrierUsage> accounts = AgentAccounting.carriers();
        running = false;
        double seconds = (System.nanoTime() - start) / 1e9;
        thread.join();
        List<Carrier> carriers = new ArrayList<>();
        for (ThreadSampler.Usage usage : usages) carriers.add(program.carrier(usage, accounts));
        System.out.println(new Gson()
                .toJson(new Figures(
                        seconds, program.yields, program.moves, own == null ? -1 : own.cpuNanos(), carriers)));
    }

    @SuppressWarnings("ThreadPriorityCheck") // measures yields
    private void yieldAndRecord() {
        int last = KernelReaders.tid();
        long[] visited = visits.computeIfAbsent(last, unused -> new long[1]);
        while (running) {
            Thread.yield();
            yields++;
            int now = KernelReaders.tid();
            if (now != last) {
                moves++;
                last = now;
                visited = visits.computeIfAbsent(now, unused -> new long[1]);
            }
            visited[0]++;
        }
    }

    private Carrier carrier(ThreadSampler.Usage usage, List<AgentAccounting.CarrierUsage> accounts) {
        long[] count = visits.getOrDefault(usage.tid(), new long[1]);
        long carried = 0;
        long own = 0;
        for (AgentAccounting.CarrierUsage account :
                accounts == null ? List.<AgentAccounting.CarrierUsage>of() : accounts) {
            if (account.tid() != usage.tid()) continue;
            carried = account.carriedNanos();
            own = account.ownNanos();
        }
        return new Carrier(usage, count[0], carried, own);
    }
}
