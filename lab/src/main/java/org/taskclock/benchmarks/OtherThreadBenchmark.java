// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.locks.LockSupport;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.taskclock.ClockId;
import org.taskclock.CpuTime;
import org.taskclock.KernelReaders;
import org.taskclock.ThreadClock;

/** Measures the cost of reading the CPU time of another thread. */
@State(Scope.Benchmark)
public class OtherThreadBenchmark extends BenchmarkSettings {
    private final ThreadMXBean stock = ManagementFactory.getThreadMXBean();

    @Param({"parked", "spinning"})
    public String thread;

    private volatile boolean ended;
    private Thread other;
    private long javaId;
    private ThreadClock clock;
    private ClockId clockId;

    @Setup
    public void start() {
        other = new Thread(thread.equals("parked") ? this::park : this::spin, "read by others");
        other.setDaemon(true);
        other.start();
        javaId = other.getId();
        clock = ThreadClock.of(other);
        clockId = ClockId.thread(clock.tid(), ClockId.Kind.SCHED);
    }

    @TearDown
    public void tearDown() {
        ended = true;
        LockSupport.unpark(other);
    }

    private void park() {
        while (!ended) LockSupport.park();
    }

    private void spin() {
        while (!ended) Thread.onSpinWait();
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long floor() {
        return KernelReaders.timeSystemCalls(clockId, BATCH);
    }

    @Benchmark
    public long cpuNanos() {
        return clock.cpuNanos();
    }

    @Benchmark
    public CpuTime now() {
        return clock.now();
    }

    @Benchmark
    public long stockCpu() {
        return stock.getThreadCpuTime(javaId);
    }

    @Benchmark
    public long stockUser() {
        return stock.getThreadUserTime(javaId);
    }
}
