// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * Measures calls of an unchanged program under the agent. {@link CurrentThreadBenchmark} has the same calls without it.
 */
@State(Scope.Thread)
@SuppressWarnings("ThreadPriorityCheck") // measures yields
public class AgentBenchmark extends BenchmarkSettings {
    private static final String AGENT = "-javaagent:target/taskclock-agent.jar";

    private final ThreadMXBean bean = ManagementFactory.getThreadMXBean();
    private final long own = Thread.currentThread().getId();

    @Benchmark
    @Fork(value = 1, jvmArgsAppend = AGENT)
    public long cpu() {
        return bean.getCurrentThreadCpuTime();
    }

    @Benchmark
    @Fork(value = 1, jvmArgsAppend = AGENT)
    public long user() {
        return bean.getCurrentThreadUserTime();
    }

    @Benchmark
    @Fork(value = 1, jvmArgsAppend = AGENT)
    public long userByOwnId() {
        return bean.getThreadUserTime(own);
    }

    @Benchmark
    public void yieldWithout() {
        Thread.yield();
    }

    @Benchmark
    @Fork(value = 1, jvmArgsAppend = AGENT + "=yield=count")
    public void yieldCounted() {
        Thread.yield();
    }

    @Benchmark
    @Fork(value = 1, jvmArgsAppend = AGENT + "=yield=off")
    public void yieldOff() {
        Thread.yield();
    }
}
