// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** What is measured, each by a JMH benchmark that run.sh measures too. */
enum Contender {
    NOTHING("nothing", "an empty method", "CurrentThread.baseline"),
    NANO_TIME("nanotime", "System.nanoTime", "CurrentThread.nanoTime"),
    STOCK_CPU("stock-cpu", "ThreadMXBean cpu, stock", "CurrentThread.stockCpu"),
    STOCK_USER("stock-user", "ThreadMXBean user, stock", "CurrentThread.stockUser"),
    PROC("proc", "user by /proc text (deleted)", "CurrentThread.userByText"),
    OWN_ID("own-id", "user by own id, bits flipped", "CurrentThread.userByOwnId"),
    ID_0("id-0", "user by constant id (id 0)", "CurrentThread.userByConstantId"),
    RUSAGE("getrusage", "getrusage", "CurrentThread.rusage"),
    TASKCLOCK_CPU("taskclock-cpu", "TaskClock.cpuNanos", "CurrentThread.cpuNanos"),
    TASKCLOCK_USER("taskclock-user", "TaskClock.userNanos", "CurrentThread.userNanos"),
    TASKCLOCK_SYSTEM("taskclock-system", "TaskClock.systemNanos", "CurrentThread.systemNanos"),
    TASKCLOCK_NOW("taskclock-now", "TaskClock.now, all three", "CurrentThread.now"),
    AGENT_CPU("agent-cpu", "ThreadMXBean cpu, agent", "UnderAgent.cpu"),
    AGENT_USER("agent-user", "ThreadMXBean user, agent", "UnderAgent.user");

    private static final String PACKAGE = "org.taskclock.benchmarks.";

    /** As options name it. */
    final String id;

    final String text;
    private final String benchmark;

    Contender(String id, String text, String benchmark) {
        this.id = id;
        this.text = text;
        this.benchmark = benchmark;
    }

    String benchmark() {
        return PACKAGE + benchmark;
    }

    /** Whether it differs from rung to rung. */
    boolean isOurs() {
        return benchmark.startsWith("CurrentThread.") && id.startsWith("taskclock-");
    }

    boolean isUnderAgent() {
        return benchmark.startsWith("UnderAgent.");
    }

    /** Null for a benchmark of another kind. */
    static Contender ofBenchmark(String benchmark) {
        return Arrays.stream(values())
                .filter(contender -> contender.benchmark().equals(benchmark))
                .findFirst()
                .orElse(null);
    }

    /** Those whose id starts with one of the texts. */
    static List<Contender> named(List<String> starts) {
        for (String start : starts) {
            if (Arrays.stream(values()).noneMatch(contender -> contender.id.startsWith(start))) {
                throw new IllegalArgumentException("contender: no " + start + ": known are " + ids());
            }
        }
        return Arrays.stream(values())
                .filter(contender -> starts.stream().anyMatch(contender.id::startsWith))
                .toList();
    }

    static String ids() {
        return Arrays.stream(values()).map(contender -> contender.id).collect(Collectors.joining(", "));
    }
}
