// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.taskclock.cli.Timing.Stock.CPU;
import static org.taskclock.cli.Timing.Stock.NONE;
import static org.taskclock.cli.Timing.Stock.USER;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.taskclock.ClockId;
import org.taskclock.KernelReaders;
import org.taskclock.ProcessClock;
import org.taskclock.TaskClock;
import org.taskclock.ThreadClock;
import org.taskclock.cli.Timing.Reader;

/**
 * Every way to read a thread's CPU time that is worth a comparison. Each has a loop of its own: through a shared one the
 * JVM would reach them by an interface call that it can neither inline nor predict, and that costs what a fast read costs.
 */
final class Readers {
    private Readers() {}

    /** Of each group the stock reader comes first. */
    static List<Reader> all() {
        ThreadMXBean stock = ManagementFactory.getThreadMXBean();
        ThreadMXBean view = TaskClock.threadMXBean();
        ThreadClock other = ThreadClock.of(parkedThread());
        ProcessClock process = ProcessClock.current();
        ClockId own = ClockId.thread(0, ClockId.Kind.SCHED);
        int tid = KernelReaders.tid();
        return List.of(
                new Reader("System.nanoTime", NONE, count -> {
                    long least = Long.MAX_VALUE;
                    // The only clock that may be below zero without having failed.
                    for (int i = 0; i < count; i++) least = Math.min(least, System.nanoTime() & Long.MAX_VALUE);
                    return least;
                }),
                new Reader("ProcessClock.cpuNanos", NONE, count -> {
                    long least = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) least = Math.min(least, process.cpuNanos());
                    return least;
                }),
                new Reader("stock getCurrentThreadCpuTime", CPU, count -> {
                    long least = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) least = Math.min(least, stock.getCurrentThreadCpuTime());
                    return least;
                }),
                new Reader("view getCurrentThreadCpuTime", CPU, count -> {
                    long least = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) least = Math.min(least, view.getCurrentThreadCpuTime());
                    return least;
                }),
                new Reader("TaskClock.cpuNanos", CPU, count -> {
                    long least = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) least = Math.min(least, TaskClock.cpuNanos());
                    return least;
                }),
                new Reader("ThreadClock.cpuNanos", CPU, count -> {
                    long least = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) least = Math.min(least, other.cpuNanos());
                    return least;
                }),
                new Reader("clock_gettime in C", CPU, count -> KernelReaders.timeSystemCalls(own, count)),
                new Reader("stock getCurrentThreadUserTime", USER, count -> {
                    long least = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) least = Math.min(least, stock.getCurrentThreadUserTime());
                    return least;
                }),
                new Reader("view getCurrentThreadUserTime", USER, count -> {
                    long least = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) least = Math.min(least, view.getCurrentThreadUserTime());
                    return least;
                }),
                new Reader("TaskClock.userNanos", USER, count -> {
                    long least = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) least = Math.min(least, TaskClock.userNanos());
                    return least;
                }),
                new Reader("TaskClock.systemNanos", USER, count -> {
                    long least = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) least = Math.min(least, TaskClock.systemNanos());
                    return least;
                }),
                new Reader("TaskClock.now", USER, count -> {
                    long least = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++)
                        least = Math.min(least, TaskClock.now().userNanos());
                    return least;
                }),
                new Reader("TaskClock.read", USER, count -> {
                    long least = Long.MAX_VALUE;
                    long[] into = new long[3];
                    for (int i = 0; i < count; i++) {
                        TaskClock.read(into);
                        least = Math.min(least, into[1]);
                    }
                    return least;
                }),
                new Reader("ThreadClock.now", USER, count -> {
                    long least = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++)
                        least = Math.min(least, other.now().userNanos());
                    return least;
                }),
                new Reader("getrusage", USER, count -> {
                    long least = Long.MAX_VALUE;
                    long[] into = new long[2];
                    for (int i = 0; i < count; i++) least = Math.min(least, KernelReaders.rusage(into) ? into[0] : -1);
                    return least;
                }),
                new Reader("user by constant id", USER, count -> {
                    long least = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) least = Math.min(least, KernelReaders.userNanosByConstantId());
                    return least;
                }),
                new Reader("user by own id, bits flipped", USER, count -> {
                    long least = Long.MAX_VALUE;
                    if (tid < 0) return -1;
                    for (int i = 0; i < count; i++) least = Math.min(least, KernelReaders.userNanosByOwnId(tid));
                    return least;
                }),
                new Reader("user by /proc text", USER, count -> {
                    long least = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) least = Math.min(least, KernelReaders.userNanosByText(tid));
                    return least;
                }));
    }

    /** Parked, as a running one would take a processor and, while it is read, make the reader wait for its run queue. */
    private static Thread parkedThread() {
        Thread thread = new Thread(
                () -> {
                    while (true) LockSupport.park();
                },
                "taskclock-parked");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
