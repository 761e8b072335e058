// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.lang.instrument.Instrumentation;
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

/**
 * What accounting costs a virtual thread each time that it is unmounted and mounted again: one thread that yields, on one
 * carrier. Needs JDK 21.
 */
@State(Scope.Thread)
// Code is compiled anew once the calls are linked.
@Warmup(iterations = 15, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 10, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@SuppressWarnings("ThreadPriorityCheck") // yielding is what is measured
public class Mounts extends Settings {
    private static final int YIELDS = 20_000;
    private static final int READS = 1_000_000;
    private static final String ONE_CARRIER = "-Djdk.virtualThreadScheduler.parallelism=1";
    private static final String ALLOWED = "--enable-native-access=ALL-UNNAMED";
    /** Then the JVM tells no agent of virtual threads, and they cost it what they cost without one. */
    private static final String ALLOWS_UNTOLD = "-XX:+UnlockExperimentalVMOptions";

    private static final String UNTOLD = "-XX:-DoJVMTIVirtualThreadTransitions";
    private static final String OURS = "-javaagent:target/taskclock-agent.jar";

    private static volatile long unusedSink;

    /** Any agent makes the JVM do more at a mount. This jar is one, see its manifest. */
    public static void premain(String options, Instrumentation jvm) {}

    private static Method start() {
        try {
            return Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            throw new UnsupportedOperationException("JDK 21 or later is needed", e);
        }
    }

    static void run(Runnable task) throws Exception {
        ((Thread) start().invoke(null, task)).join();
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
            jvmArgsAppend = {ONE_CARRIER, ALLOWED, "-javaagent:target/benchmarks.jar"})
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
            jvmArgsAppend = {ONE_CARRIER, ALLOWED, ALLOWS_UNTOLD, UNTOLD, "-javaagent:target/benchmarks.jar"})
    @OperationsPerInvocation(YIELDS)
    public void emptyAgentUntold() throws Exception {
        yields();
    }

    @Benchmark
    @Fork(
            value = 2,
            jvmArgsAppend = {ONE_CARRIER, ALLOWED, ALLOWS_UNTOLD, UNTOLD, OURS})
    @OperationsPerInvocation(YIELDS)
    public void accountedUntold() throws Exception {
        yields();
    }

    /** What a virtual thread pays to read its own time. */
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
