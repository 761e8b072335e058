// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.taskclock.ThreadSnapshot;

/** Measures the cost of reading the CPU time of all threads. */
@State(Scope.Benchmark)
public class AllThreadsBenchmark extends BenchmarkSettings {
    /** Space for the JVM's own threads, which are also read. */
    private static final int ROOM_FOR_JVM = 200;

    private final ThreadMXBean stock = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final ThreadSnapshot snapshot = new ThreadSnapshot();

    @Param({"100", "1000", "10000"})
    public int threads;

    private int[] tids;
    private long[] cpuNanos;
    private long[] userNanos;
    private long[] systemNanos;
    private long[] javaIds;
    private ByteBuffer clockIds;
    private int count;

    @Setup
    public void start() throws InterruptedException {
        javaIds = ParkedThreads.start(threads);
        int room = threads + ROOM_FOR_JVM;
        tids = new int[room];
        cpuNanos = new long[room];
        userNanos = new long[room];
        systemNanos = new long[room];
        count = snapshot();
        if (count <= threads || count > room) throw new IllegalStateException("a snapshot of " + count + " threads");
        clockIds = SnapshotFloor.clockIds(tids, count);
    }

    /** Makes only the system calls of a snapshot that lists the threads: its lower bound. */
    @Benchmark
    public int floor() {
        return SnapshotFloor.snapshot(clockIds, count);
    }

    @Benchmark
    public int snapshot() {
        return snapshot.read(tids, cpuNanos, userNanos, systemNanos);
    }

    @Benchmark
    public int snapshotCpu() {
        return snapshot.read(tids, cpuNanos);
    }

    @Benchmark
    public long[] stockCpu() {
        return stock.getThreadCpuTime(javaIds);
    }

    /** Lists the threads before reading, like a snapshot. */
    @Benchmark
    public long[] stockCpuListed() {
        return stock.getThreadCpuTime(stock.getAllThreadIds());
    }

    @Benchmark
    public long[] stockUser() {
        return stock.getThreadUserTime(javaIds);
    }
}
