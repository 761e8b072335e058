// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;
import org.taskclock.ClockId;
import org.taskclock.CpuTime;
import org.taskclock.KernelReaders;
import org.taskclock.TaskClock;

/** Measures the cost of reading the calling thread's CPU time. */
@State(Scope.Thread)
public class CurrentThreadBenchmark extends BenchmarkSettings {
    private static final ClockId OWN_CPU = ClockId.thread(0, ClockId.Kind.SCHED);

    private final java.lang.management.ThreadMXBean stock = ManagementFactory.getThreadMXBean();
    private final ThreadMXBean view = TaskClock.threadMXBean();
    private final long[] into = new long[3];
    private int tid;

    @Setup
    public void setUp() {
        tid = KernelReaders.tid();
    }

    @Benchmark
    public void baseline() {}

    @Benchmark
    public long nanoTime() {
        return System.nanoTime();
    }

    /** Makes bare system calls in a C function: the lower bound for readers that make a system call. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long floor() {
        return KernelReaders.timeSystemCalls(OWN_CPU, BATCH);
    }

    @Benchmark
    public long cpuNanos() {
        return TaskClock.cpuNanos();
    }

    @Benchmark
    public long userNanos() {
        return TaskClock.userNanos();
    }

    @Benchmark
    public long systemNanos() {
        return TaskClock.systemNanos();
    }

    @Benchmark
    public CpuTime nowEscaping() {
        return TaskClock.now();
    }

    @Benchmark
    public void now(Blackhole blackhole) {
        CpuTime now = TaskClock.now();
        blackhole.consume(now.cpuNanos());
        blackhole.consume(now.userNanos());
        blackhole.consume(now.systemNanos());
    }

    @Benchmark
    public long[] read() {
        TaskClock.read(into);
        return into;
    }

    @Benchmark
    public long stockCpu() {
        return stock.getCurrentThreadCpuTime();
    }

    @Benchmark
    public long stockUser() {
        return stock.getCurrentThreadUserTime();
    }

    @Benchmark
    public long viewCpu() {
        return view.getCurrentThreadCpuTime();
    }

    @Benchmark
    public long viewUser() {
        return view.getCurrentThreadUserTime();
    }

    @Benchmark
    public long userByConstantId() {
        return KernelReaders.userNanosByConstantId();
    }

    @Benchmark
    public long userByOwnId() {
        return KernelReaders.userNanosByOwnId(tid);
    }

    @Benchmark
    public long userByText() {
        return KernelReaders.userNanosByText(tid);
    }

    @Benchmark
    public long[] rusage() {
        KernelReaders.rusage(into);
        return into;
    }
}
