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
 * What is measured by {@code carriers}: one virtual thread that yields, and notes after each yield which kernel thread it is on.
 * Argument: seconds.
 */
public final class Wanderer {
    static final String NAME = "wanderer-";

    /** What one carrier did. What the agent knows of it is 0 where it was not asked. */
    record Carrier(Watched.Used used, long visits, long carriedNanos, long ownNanos) {}

    record Figures(double seconds, long yields, long moves, long cpuNanos, List<Carrier> carriers) {}

    private static volatile boolean running = true;

    private final Map<Integer, long[]> visits = new TreeMap<>();
    private long yields;
    private long moves;

    private Wanderer() {}

    public static void main(String[] args) throws InterruptedException {
        long nanos = (long) (Double.parseDouble(args[0]) * 1e9);
        Accounts.ofCarriers(); // the first time takes long
        Watched watched = new Watched(NAME);
        Wanderer wanderer = new Wanderer();
        long start = System.nanoTime();
        Thread thread = Virtual.start(NAME + 0, wanderer::wander);
        long left;
        while ((left = start + nanos - System.nanoTime()) > 0) LockSupport.parkNanos(left);
        List<Watched.Used> used = watched.look();
        Accounts.Virtual own = Accounts.ofVirtualThreads(NAME);
        List<Accounts.Carrier> accounts = Accounts.ofCarriers();
        running = false;
        double seconds = (System.nanoTime() - start) / 1e9;
        thread.join();
        List<Carrier> carriers = new ArrayList<>();
        for (Watched.Used each : used) carriers.add(wanderer.carrier(each, accounts));
        System.out.println(new Gson()
                .toJson(new Figures(
                        seconds, wanderer.yields, wanderer.moves, own == null ? -1 : own.cpuNanos(), carriers)));
    }

    @SuppressWarnings("ThreadPriorityCheck") // yielding is what is measured
    private void wander() {
        int last = KernelReaders.tid();
        long[] here = visits.computeIfAbsent(last, unused -> new long[1]);
        while (running) {
            Thread.yield();
            yields++;
            int now = KernelReaders.tid();
            if (now != last) {
                moves++;
                last = now;
                here = visits.computeIfAbsent(now, unused -> new long[1]);
            }
            here[0]++;
        }
    }

    private Carrier carrier(Watched.Used used, List<Accounts.Carrier> accounts) {
        long[] count = visits.getOrDefault(used.tid(), new long[1]);
        long carried = 0;
        long own = 0;
        for (Accounts.Carrier account : accounts == null ? List.<Accounts.Carrier>of() : accounts) {
            if (account.tid() != used.tid()) continue;
            carried = account.carriedNanos();
            own = account.ownNanos();
        }
        return new Carrier(used, count[0], carried, own);
    }
}
