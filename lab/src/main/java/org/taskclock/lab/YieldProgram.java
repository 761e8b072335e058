// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
import java.util.concurrent.locks.LockSupport;
import org.taskclock.CpuTime;
import org.taskclock.TaskClock;

/** The program that {@code yield-a-lot} measures: one platform thread that only yields. Argument: seconds. */
public final class YieldProgram {
    /** The CPU time of the thread, and the number of its yields. */
    record Figures(double seconds, long cpuNanos, long userNanos, long systemNanos, long counter) {}

    private static volatile boolean running = true;

    private YieldProgram() {}

    @SuppressWarnings("ThreadPriorityCheck") // measures yields
    public static void main(String[] args) {
        long nanos = (long) (Double.parseDouble(args[0]) * 1e9);
        TaskClock.status(); // the first call is slow
        new Thread(() -> endAfter(nanos), "timer").start();
        CpuTime before = TaskClock.now();
        long start = System.nanoTime();
        long counter = 0;
        while (running) {
            counter++;
            Thread.yield();
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        CpuTime spent = TaskClock.now().minus(before);
        System.out.println(new Gson()
                .toJson(new Figures(seconds, spent.cpuNanos(), spent.userNanos(), spent.systemNanos(), counter)));
    }

    private static void endAfter(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) LockSupport.parkNanos(end - System.nanoTime());
        running = false;
    }
}
