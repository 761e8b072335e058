// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
    record Carrier(ThreadSampler.Usage usage, long visits, long carriedNanos, long ownNanos) {
        static Carrier sum(List<Carrier> carriers) {
            return new Carrier(
                    ThreadSampler.Usage.sum(
                            carriers.stream().map(Carrier::usage).toList()),
                    carriers.stream().mapToLong(Carrier::visits).sum(),
                    carriers.stream().mapToLong(Carrier::carriedNanos).sum(),
                    carriers.stream().mapToLong(Carrier::ownNanos).sum());
        }
    }

    record Figures(double seconds, long yields, long moves, long cpuNanos, List<Carrier> carriers) {}

    /** The CPU time of the carriers, from two sources that were read while no carrier was running. */
    private record Readings(List<ThreadSampler.Usage> usages, List<AgentAccounting.CarrierUsage> accounts) {}

    private static final long MAX_WAIT_NANOS = 10_000_000_000L;

    private static volatile boolean running = true;

    private final Map<Integer, long[]> visits = new TreeMap<>();
    private long yields;
    private long moves;

    private CarrierProgram() {}

    public static void main(String[] args) throws InterruptedException {
        long nanos = (long) (Double.parseDouble(args[0]) * 1e9);
        CarrierProgram program = new CarrierProgram();
        long start = System.nanoTime();
        Thread thread = VirtualThreadSupport.start(NAME + 0, program::yieldAndRecord);
        long left;
        while ((left = start + nanos - System.nanoTime()) > 0) LockSupport.parkNanos(left);
        running = false;
        double seconds = (System.nanoTime() - start) / 1e9;
        thread.join();
        Readings readings = readAtRest();
        AgentAccounting.VirtualUsage own = AgentAccounting.virtualThreads(NAME);
        List<Carrier> carriers = new ArrayList<>();
        for (ThreadSampler.Usage usage : readings.usages) carriers.add(program.carrier(usage, readings.accounts));
        System.out.println(new Gson()
                .toJson(new Figures(
                        seconds, program.yields, program.moves, own == null ? -1 : own.cpuNanos(), carriers)));
    }

    /**
     * Reads both sources after the carriers have gone to sleep. A carrier that ran between the two readings would seem
     * to use more CPU time for threads and scheduling than in total.
     */
    private static Readings readAtRest() {
        List<AgentAccounting.CarrierUsage> accounts = AgentAccounting.carriers(); // creates the MBean server
        long deadline = System.nanoTime() + MAX_WAIT_NANOS;
        while (System.nanoTime() < deadline) {
            List<AgentAccounting.CarrierUsage> before = accounts;
            List<ThreadSampler.Usage> usages = new ThreadSampler(NAME).sample();
            accounts = AgentAccounting.carriers();
            if (Objects.equals(before, accounts)) return new Readings(usages, accounts);
        }
        throw new IllegalStateException("the carriers did not go to sleep");
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
        long visited = visits.getOrDefault(usage.tid(), new long[1])[0];
        if (accounts == null) return new Carrier(usage, visited, 0, 0);
        long carried = 0;
        for (AgentAccounting.CarrierUsage account : accounts) {
            if (account.tid() == usage.tid()) carried = account.carriedNanos();
        }
        // The agent's own figure begins with the first mount, and lacks carriers that never mounted a thread.
        return new Carrier(usage, visited, carried, usage.cpuNanos() - carried);
    }
}
