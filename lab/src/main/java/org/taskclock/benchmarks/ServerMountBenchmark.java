// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.taskclock.soak.AgentMXBean;

/**
 * Measures the cost of accounting for each mount of a virtual thread as in a server: many threads work for a short time
 * and park, platform threads wake them, and the work displaces what a mount uses from the processor's caches. Needs JDK
 * 21.
 */
@State(Scope.Benchmark)
@Warmup(iterations = 6, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 10, time = 500, timeUnit = TimeUnit.MILLISECONDS)
public class ServerMountBenchmark extends BenchmarkSettings {
    private static final int THREADS = 32;
    private static final int ROUNDS = 100;
    private static final int WAKERS = 2;
    private static final int MOUNTS = THREADS * ROUNDS;
    private static final int MEMORY_LONGS = 1 << 19; // more than the caches of one processor
    private static final int STEPS_PER_MICRO = 200;

    private static final String ALLOWED = "--enable-native-access=ALL-UNNAMED";
    private static final String OURS = "-javaagent:target/taskclock-agent.jar";

    /** What the thread works between two parks, in us of about a 3 GHz processor. */
    @Param({"2", "10", "50"})
    public int work;

    @Param({"2", "8"})
    public int carriers;

    private final BlockingQueue<Request> parked = new LinkedBlockingQueue<>();
    private final List<Thread> wakers = new ArrayList<>();
    private final long[] memory = new SplittableRandom(1).longs(MEMORY_LONGS).toArray();
    private volatile long unusedSink;

    /** What happened in the measured iterations. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.EVENTS)
    public static class Counts {
        /** CPU time of the process, ns. */
        public long cpuNanos;

        public long mounts;
        /** System calls in mounts and unmounts for CPU time, and for user time; 0 without our agent. */
        public long clockCalls;

        public long usageCalls;

        private long cpuNanosBefore;
        private long clockCallsBefore;
        private long usageCallsBefore;

        @Setup(Level.Iteration)
        public void begin() throws JMException {
            cpuNanosBefore = processCpuNanos();
            clockCallsBefore = attribute("MountClockCalls");
            usageCallsBefore = attribute("MountUsageCalls");
        }

        @TearDown(Level.Iteration)
        public void end() throws JMException {
            cpuNanos = processCpuNanos() - cpuNanosBefore;
            clockCalls = attribute("MountClockCalls") - clockCallsBefore;
            usageCalls = attribute("MountUsageCalls") - usageCallsBefore;
        }

        private static long processCpuNanos() {
            return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class)
                    .getProcessCpuTime();
        }

        private static long attribute(String name) throws JMException {
            MBeanServer server = ManagementFactory.getPlatformMBeanServer();
            ObjectName bean = new ObjectName(AgentMXBean.NAME);
            return server.isRegistered(bean) ? (long) server.getAttribute(bean, name) : 0;
        }
    }

    @Setup(Level.Trial)
    public void startWakers() {
        // Read when the first virtual thread is created.
        System.setProperty("jdk.virtualThreadScheduler.parallelism", Integer.toString(carriers));
        System.setProperty("jdk.virtualThreadScheduler.maxPoolSize", Integer.toString(carriers));
        for (int i = 0; i < WAKERS; i++) {
            Thread waker = new Thread(this::wake, "waker-" + i);
            waker.setDaemon(true);
            waker.start();
            wakers.add(waker);
        }
    }

    @TearDown(Level.Trial)
    public void stopWakers() {
        wakers.forEach(Thread::interrupt);
    }

    private void wake() {
        try {
            while (true) parked.take().wake();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A thread that waits for a waker. It may also be unparked by the lock of the queue. */
    private static final class Request {
        private final Thread thread = Thread.currentThread();
        private volatile boolean isAnswered;

        void wake() {
            isAnswered = true;
            LockSupport.unpark(thread);
        }

        void await() {
            while (!isAnswered) LockSupport.park();
        }
    }

    private void serve(int seed) {
        long sum = seed;
        for (int round = 0; round < ROUNDS; round++) {
            for (int step = 0; step < work * STEPS_PER_MICRO; step++) sum += memory[(int) sum & (MEMORY_LONGS - 1)];
            Request request = new Request();
            parked.add(request);
            request.await();
        }
        unusedSink = sum;
    }

    private void requests(Counts counts) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int seed = i;
            threads.add(MountBenchmark.start(() -> serve(seed)));
        }
        for (Thread thread : threads) thread.join();
        counts.mounts += MOUNTS;
    }

    @Benchmark
    @Fork(
            value = 3,
            jvmArgsAppend = {ALLOWED})
    @OperationsPerInvocation(MOUNTS)
    public void bare(Counts counts) throws Exception {
        requests(counts);
    }

    @Benchmark
    @Fork(
            value = 3,
            jvmArgsAppend = {ALLOWED, "-javaagent:target/taskclock-lab.jar"})
    @OperationsPerInvocation(MOUNTS)
    public void emptyAgent(Counts counts) throws Exception {
        requests(counts);
    }

    @Benchmark
    @Fork(
            value = 3,
            jvmArgsAppend = {ALLOWED, OURS})
    @OperationsPerInvocation(MOUNTS)
    public void accounted(Counts counts) throws Exception {
        requests(counts);
    }
}
