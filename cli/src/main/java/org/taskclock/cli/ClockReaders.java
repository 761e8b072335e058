// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.taskclock.cli.ReadTimer.Stock.CPU;
import static org.taskclock.cli.ReadTimer.Stock.NONE;
import static org.taskclock.cli.ReadTimer.Stock.USER;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.taskclock.ClockId;
import org.taskclock.KernelReaders;
import org.taskclock.ProcessClock;
import org.taskclock.TaskClock;
import org.taskclock.ThreadClock;
import org.taskclock.cli.ReadTimer.Reader;
import org.taskclock.monitor.usage.DaemonThread;

/**
 * The ways to read a thread's CPU time that doctor compares. Each has its own loop: a shared loop would call the
 * readers through an interface. The JIT compiler cannot inline such a call, which costs as much as a fast read.
 */
final class ClockReaders {
    private ClockReaders() {}

    /** Creates the readers, with the stock reader first in each group. */
    static List<Reader> create() {
        ThreadMXBean stock = ManagementFactory.getThreadMXBean();
        ThreadMXBean view = TaskClock.threadMXBean();
        ThreadClock other = ThreadClock.of(startParkedThread());
        ProcessClock process = ProcessClock.current();
        ClockId own = ClockId.thread(0, ClockId.Kind.SCHED);
        int tid = KernelReaders.tid();
        return List.of(
                new Reader("System.nanoTime", NONE, count -> {
                    long min = Long.MAX_VALUE;
                    // A negative value of nanoTime is not a failure.
                    for (int i = 0; i < count; i++) min = Math.min(min, System.nanoTime() & Long.MAX_VALUE);
                    return min;
                }),
                new Reader("ProcessClock.cpuNanos", NONE, count -> {
                    long min = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) min = Math.min(min, process.cpuNanos());
                    return min;
                }),
                new Reader("stock getCurrentThreadCpuTime", CPU, count -> {
                    long min = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) min = Math.min(min, stock.getCurrentThreadCpuTime());
                    return min;
                }),
                new Reader("view getCurrentThreadCpuTime", CPU, count -> {
                    long min = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) min = Math.min(min, view.getCurrentThreadCpuTime());
                    return min;
                }),
                new Reader("TaskClock.cpuNanos", CPU, count -> {
                    long min = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) min = Math.min(min, TaskClock.cpuNanos());
                    return min;
                }),
                new Reader("ThreadClock.cpuNanos", CPU, count -> {
                    long min = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) min = Math.min(min, other.cpuNanos());
                    return min;
                }),
                new Reader("clock_gettime in C", CPU, count -> KernelReaders.timeSystemCalls(own, count)),
                new Reader("stock getCurrentThreadUserTime", USER, count -> {
                    long min = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) min = Math.min(min, stock.getCurrentThreadUserTime());
                    return min;
                }),
                new Reader("view getCurrentThreadUserTime", USER, count -> {
                    long min = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) min = Math.min(min, view.getCurrentThreadUserTime());
                    return min;
                }),
                new Reader("TaskClock.userNanos", USER, count -> {
                    long min = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) min = Math.min(min, TaskClock.userNanos());
                    return min;
                }),
                new Reader("TaskClock.systemNanos", USER, count -> {
                    long min = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) min = Math.min(min, TaskClock.systemNanos());
                    return min;
                }),
                new Reader("TaskClock.now", USER, count -> {
                    long min = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++)
                        min = Math.min(min, TaskClock.now().userNanos());
                    return min;
                }),
                new Reader("TaskClock.read", USER, count -> {
                    long min = Long.MAX_VALUE;
                    long[] into = new long[3];
                    for (int i = 0; i < count; i++) {
                        TaskClock.read(into);
                        min = Math.min(min, into[1]);
                    }
                    return min;
                }),
                new Reader("ThreadClock.now", USER, count -> {
                    long min = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++)
                        min = Math.min(min, other.now().userNanos());
                    return min;
                }),
                new Reader("getrusage", USER, count -> {
                    long min = Long.MAX_VALUE;
                    long[] into = new long[2];
                    for (int i = 0; i < count; i++) min = Math.min(min, KernelReaders.rusage(into) ? into[0] : -1);
                    return min;
                }),
                new Reader("user by constant id", USER, count -> {
                    long min = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) min = Math.min(min, KernelReaders.userNanosByConstantId());
                    return min;
                }),
                new Reader("user by own id, bits flipped", USER, count -> {
                    long min = Long.MAX_VALUE;
                    if (tid < 0) return -1;
                    for (int i = 0; i < count; i++) min = Math.min(min, KernelReaders.userNanosByOwnId(tid));
                    return min;
                }),
                new Reader("user by /proc text", USER, count -> {
                    long min = Long.MAX_VALUE;
                    for (int i = 0; i < count; i++) min = Math.min(min, KernelReaders.userNanosByText(tid));
                    return min;
                }));
    }

    /**
     * Starts a thread that parks: a running one would occupy a processor, and reading its clock locks its run queue.
     */
    private static Thread startParkedThread() {
        Thread thread = new DaemonThread(
                () -> {
                    while (true) LockSupport.park();
                },
                "taskclock-parked");
        thread.start();
        return thread;
    }
}
