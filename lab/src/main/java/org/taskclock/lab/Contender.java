// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.taskclock.benchmarks.ReadingLoop;

/**
 * The readings that {@code bench} compares: names for users, the JMH benchmark in {@code org.taskclock.benchmarks} that
 * measures the cost, and the loop for everything that JMH does not measure.
 */
enum Contender {
    NOTHING("nothing", "an empty method", "baseline", ReadingLoop.NOTHING),
    NANO_TIME("nanotime", "System.nanoTime", "nanoTime", ReadingLoop.NANO_TIME),
    STOCK_CPU("stock-cpu", "ThreadMXBean cpu, stock", "stockCpu", ReadingLoop.STOCK_CPU),
    STOCK_USER("stock-user", "ThreadMXBean user, stock", "stockUser", ReadingLoop.STOCK_USER),
    PROC("proc", "user by /proc text (deleted)", "userByText", ReadingLoop.USER_BY_TEXT),
    OWN_ID("own-id", "user by own id, bits flipped", "userByOwnId", ReadingLoop.USER_BY_OWN_ID),
    ID_0("id-0", "user by constant id (id 0)", "userByConstantId", ReadingLoop.USER_BY_CONSTANT_ID),
    RUSAGE("getrusage", "getrusage", "rusage", ReadingLoop.RUSAGE),
    TASKCLOCK_CPU("taskclock-cpu", "TaskClock.cpuNanos", "cpuNanos", ReadingLoop.CPU_NANOS),
    TASKCLOCK_USER("taskclock-user", "TaskClock.userNanos", "userNanos", ReadingLoop.USER_NANOS),
    TASKCLOCK_SYSTEM("taskclock-system", "TaskClock.systemNanos", "systemNanos", ReadingLoop.SYSTEM_NANOS),
    TASKCLOCK_NOW("taskclock-now", "TaskClock.now, all three", "now", ReadingLoop.NOW),
    AGENT_CPU("agent-cpu", "ThreadMXBean cpu, agent", "cpu", ReadingLoop.STOCK_CPU),
    AGENT_USER("agent-user", "ThreadMXBean user, agent", "user", ReadingLoop.STOCK_USER);

    private static final String PACKAGE = "org.taskclock.benchmarks.";

    /** The name in options. */
    final String id;

    /** The name in results. */
    final String text;

    final ReadingLoop loop;
    private final String benchmark;

    Contender(String id, String text, String benchmark, ReadingLoop loop) {
        this.id = id;
        this.text = text;
        this.benchmark = benchmark;
        this.loop = loop;
    }

    String benchmark() {
        return PACKAGE + (isUnderAgent() ? "AgentBenchmark." : "CurrentThreadBenchmark.") + benchmark;
    }

    /** Returns whether this is a method of TaskClock, whose cost depends on the backend. */
    boolean isOurs() {
        return id.startsWith("taskclock-");
    }

    boolean isUnderAgent() {
        return id.startsWith("agent-");
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
