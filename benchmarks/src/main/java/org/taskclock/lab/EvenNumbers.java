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
 * What is measured by {@code yield}: threads that count even numbers, and may yield at each, until time is up. Runs in a JVM of its
 * own and prints a line of JSON each second, and one in the end. Arguments: virtual or platform, how many threads, yielding
 * or not, seconds.
 */
public final class EvenNumbers {
    static final String NAME = "even-";
    static final int STEP = 50_000;

    private static final double SHORTEST_SECONDS = 0.05;
    private static final Gson GSON = new Gson();

    /** Figures of the interval that ended so many seconds after the start; progress is since the start, in 50,000s. */
    record Second(double at, double seconds, long progress, List<Watched.Used> threads) {}

    /** The last line. What the agent knows is null where there is none. */
    record End(double seconds, long evenNumbers, Accounts.Virtual virtual, List<Accounts.Carrier> carriers) {}

    /** Exactly one is there. */
    record Line(Second second, End end) {}

    private final LongAdder progress = new LongAdder();
    private final LongAdder evenNumbers = new LongAdder();
    private final AtomicBoolean running = new AtomicBoolean(true);
    private final boolean yielding;

    private EvenNumbers(boolean yielding) {
        this.yielding = yielding;
    }

    public static void main(String[] args) throws InterruptedException {
        boolean virtual = args[0].equals("virtual");
        new EvenNumbers(args[2].equals("yielding"))
                .run(virtual, Integer.parseInt(args[1]), Double.parseDouble(args[3]));
    }

    @SuppressWarnings("ThreadPriorityCheck") // yielding is what is measured
    private void count() {
        long found = 0;
        // Beyond the greatest int it goes on from the least: it is time that ends this.
        for (int number = 0; number % 2 == 0 && running.get(); number += 2) {
            found++;
            if (yielding) Thread.yield();
            if (found % STEP == 0) progress.increment();
        }
        evenNumbers.add(found);
    }

    private void run(boolean virtual, int count, double seconds) throws InterruptedException {
        Accounts.ofCarriers(); // the first time takes long
        Watched watched = new Watched(NAME);
        List<Thread> threads = new ArrayList<>();
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) threads.add(Virtual.start(virtual, NAME + i, this::count));
        double last = 0;
        while (last < seconds) {
            double next = Math.floor(last + 1 + SHORTEST_SECONDS);
            sleepUntil(start + (long) (1e9 * (next + SHORTEST_SECONDS > seconds ? seconds : next)));
            double now = (System.nanoTime() - start) / 1e9;
            print(new Line(new Second(now, now - last, progress.sum(), watched.look()), null));
            last = now;
        }
        // Before they end, as what a platform thread has used is not known afterwards.
        Accounts.Virtual own = Accounts.ofVirtualThreads(NAME);
        List<Accounts.Carrier> carriers = Accounts.ofCarriers();
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
