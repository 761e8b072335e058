// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
import java.util.concurrent.locks.LockSupport;
import org.taskclock.CpuTime;
import org.taskclock.TaskClock;

/** What is measured by {@code yield-a-lot}: one platform thread that does nothing but yield, for so many seconds. */
public final class Yielding {
    /** What it used, and how often it yielded. */
    record Figures(double seconds, long cpuNanos, long userNanos, long systemNanos, long counter) {}

    private static volatile boolean running = true;

    private Yielding() {}

    @SuppressWarnings("ThreadPriorityCheck") // yielding is what is measured
    public static void main(String[] args) {
        long nanos = (long) (Double.parseDouble(args[0]) * 1e9);
        TaskClock.status(); // the first time takes long
        new Thread(() -> stopAfter(nanos), "timer").start();
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

    private static void stopAfter(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) LockSupport.parkNanos(end - System.nanoTime());
        running = false;
    }
}
