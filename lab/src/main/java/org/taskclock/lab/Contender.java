// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.taskclock.KernelReaders;
import org.taskclock.TaskClock;

/**
 * The ways to read a clock that {@code bench} compares. Each has a JMH benchmark in {@code org.taskclock.benchmarks}.
 */
@SuppressWarnings("ImmutableEnumChecker") // the suppliers have no state
enum Contender {
    NOTHING("nothing", "an empty method", "CurrentThreadBenchmark.baseline", () -> null),
    NANO_TIME("nanotime", "System.nanoTime", "CurrentThreadBenchmark.nanoTime", () -> System::nanoTime),
    STOCK_CPU(
            "stock-cpu",
            "ThreadMXBean cpu, stock",
            "CurrentThreadBenchmark.stockCpu",
            () -> threads()::getCurrentThreadCpuTime),
    STOCK_USER(
            "stock-user",
            "ThreadMXBean user, stock",
            "CurrentThreadBenchmark.stockUser",
            () -> threads()::getCurrentThreadUserTime),
    PROC("proc", "user by /proc text (deleted)", "CurrentThreadBenchmark.userByText", () -> {
        int tid = KernelReaders.tid();
        return () -> KernelReaders.userNanosByText(tid);
    }),
    OWN_ID("own-id", "user by own id, bits flipped", "CurrentThreadBenchmark.userByOwnId", () -> {
        int tid = KernelReaders.tid();
        return () -> KernelReaders.userNanosByOwnId(tid);
    }),
    ID_0(
            "id-0",
            "user by constant id (id 0)",
            "CurrentThreadBenchmark.userByConstantId",
            () -> KernelReaders::userNanosByConstantId),
    RUSAGE("getrusage", "getrusage", "CurrentThreadBenchmark.rusage", () -> {
        long[] userSystem = new long[2];
        return () -> KernelReaders.rusage(userSystem) ? userSystem[0] : -1;
    }),
    TASKCLOCK_CPU("taskclock-cpu", "TaskClock.cpuNanos", "CurrentThreadBenchmark.cpuNanos", () -> TaskClock::cpuNanos),
    TASKCLOCK_USER(
            "taskclock-user", "TaskClock.userNanos", "CurrentThreadBenchmark.userNanos", () -> TaskClock::userNanos),
    TASKCLOCK_SYSTEM(
            "taskclock-system",
            "TaskClock.systemNanos",
            "CurrentThreadBenchmark.systemNanos",
            () -> TaskClock::systemNanos),
    TASKCLOCK_NOW(
            "taskclock-now",
            "TaskClock.now, all three",
            "CurrentThreadBenchmark.now",
            () -> () -> TaskClock.now().cpuNanos()),
    AGENT_CPU("agent-cpu", "ThreadMXBean cpu, agent", "AgentBenchmark.cpu", () -> threads()::getCurrentThreadCpuTime),
    AGENT_USER(
            "agent-user", "ThreadMXBean user, agent", "AgentBenchmark.user", () -> threads()::getCurrentThreadUserTime);

    private static final String PACKAGE = "org.taskclock.benchmarks.";

    /** The name in options. */
    final String id;

    final String text;
    private final String benchmark;
    private final Supplier<LongSupplier> reader;

    Contender(String id, String text, String benchmark, Supplier<LongSupplier> reader) {
        this.id = id;
        this.text = text;
        this.benchmark = benchmark;
        this.reader = reader;
    }

    private static ThreadMXBean threads() {
        return ManagementFactory.getThreadMXBean();
    }

    String benchmark() {
        return PACKAGE + benchmark;
    }

    /** Returns a reader for the calling thread, in nanoseconds, or null if this contender reads no clock. */
    LongSupplier reader() {
        return reader.get();
    }

    /** Returns whether this is a method of TaskClock, whose cost depends on the backend. */
    boolean isOurs() {
        return benchmark.startsWith("CurrentThreadBenchmark.") && id.startsWith("taskclock-");
    }

    boolean isUnderAgent() {
        return benchmark.startsWith("AgentBenchmark.");
    }

    /** Returns the contender that a benchmark measures, or null if there is none. */
    static Contender ofBenchmark(String benchmark) {
        return Arrays.stream(values())
                .filter(contender -> contender.benchmark().equals(benchmark))
                .findFirst()
                .orElse(null);
    }

    /** Returns the contenders whose id starts with one of the prefixes. */
    static List<Contender> named(List<String> prefixes) {
        for (String prefix : prefixes) {
            if (Arrays.stream(values()).noneMatch(contender -> contender.id.startsWith(prefix))) {
                throw new IllegalArgumentException("contender " + prefix + ": unknown: use one of " + ids());
            }
        }
        return Arrays.stream(values())
                .filter(contender -> prefixes.stream().anyMatch(contender.id::startsWith))
                .toList();
    }

    static String ids() {
        return Arrays.stream(values()).map(contender -> contender.id).collect(Collectors.joining(", "));
    }
}
