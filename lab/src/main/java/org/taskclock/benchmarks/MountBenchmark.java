// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.lang.reflect.Method;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.taskclock.TaskClock;
import org.taskclock.internal.JdkVersions;

/**
 * Measures the cost of accounting for each unmount and mount of a virtual thread: one thread yields on one carrier.
 * Needs JDK 21.
 */
@State(Scope.Thread)
// The warm-up is long because code is recompiled after the calls are linked.
@Warmup(iterations = 15, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 10, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@SuppressWarnings("ThreadPriorityCheck") // measures yields
public class MountBenchmark extends BenchmarkSettings {
    private static final int YIELDS = 20_000;
    private static final int READS = 1_000_000;
    private static final String ONE_CARRIER = "-Djdk.virtualThreadScheduler.parallelism=1";
    private static final String ALLOWED = "--enable-native-access=ALL-UNNAMED";
    private static final String UNLOCK = "-XX:+UnlockExperimentalVMOptions";
    /** Keeps the JVM from notifying agents of mounts and unmounts, so that these cost the same as without an agent. */
    private static final String NO_TRANSITIONS = "-XX:-DoJVMTIVirtualThreadTransitions";

    private static final String OURS = "-javaagent:target/taskclock-agent.jar";

    private static volatile long unusedSink;

    static Thread start(Runnable task) throws Exception {
        try {
            Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return (Thread) start.invoke(null, task);
        } catch (NoSuchMethodException e) {
            throw new UnsupportedOperationException(
                    "virtual threads require JDK " + JdkVersions.VIRTUAL_THREADS + " or later", e);
        }
    }

    static void run(Runnable task) throws Exception {
        start(task).join();
    }

    private void yields() throws Exception {
        run(() -> {
            for (int i = 0; i < YIELDS; i++) Thread.yield();
        });
    }

    @Benchmark
    @Fork(
            value = 2,
            jvmArgsAppend = {ONE_CARRIER, ALLOWED})
    @OperationsPerInvocation(YIELDS)
    public void bare() throws Exception {
        yields();
    }

    @Benchmark
    @Fork(
            value = 2,
            jvmArgsAppend = {ONE_CARRIER, ALLOWED, "-javaagent:target/taskclock-lab.jar"})
    @OperationsPerInvocation(YIELDS)
    public void emptyAgent() throws Exception {
        yields();
    }

    @Benchmark
    @Fork(
            value = 2,
            jvmArgsAppend = {ONE_CARRIER, ALLOWED, OURS + "=vthreads=off"})
    @OperationsPerInvocation(YIELDS)
    public void switchedOff() throws Exception {
        yields();
    }

    @Benchmark
    @Fork(
            value = 2,
            jvmArgsAppend = {ONE_CARRIER, ALLOWED, OURS})
    @OperationsPerInvocation(YIELDS)
    public void accounted() throws Exception {
        yields();
    }

    @Benchmark
    @Fork(
            value = 2,
            jvmArgsAppend = {ONE_CARRIER, ALLOWED, UNLOCK, NO_TRANSITIONS, "-javaagent:target/taskclock-lab.jar"})
    @OperationsPerInvocation(YIELDS)
    public void emptyAgentWithoutTransitions() throws Exception {
        yields();
    }

    @Benchmark
    @Fork(
            value = 2,
            jvmArgsAppend = {ONE_CARRIER, ALLOWED, UNLOCK, NO_TRANSITIONS, OURS})
    @OperationsPerInvocation(YIELDS)
    public void accountedWithoutTransitions() throws Exception {
        yields();
    }

    /** Reads a virtual thread's own time. */
    @Benchmark
    @Fork(
            value = 1,
            jvmArgsAppend = {ONE_CARRIER, ALLOWED, OURS})
    @OperationsPerInvocation(READS)
    public void cpuNanos() throws Exception {
        run(() -> {
            long sum = 0;
            for (int i = 0; i < READS; i++) sum += TaskClock.cpuNanos();
            unusedSink = sum;
        });
    }
}
