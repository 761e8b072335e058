// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.attach.AgentClient;
import org.taskclock.monitor.attach.ThreadDumps;
import org.taskclock.monitor.finding.StackSamples.Suspect;
import org.taskclock.monitor.usage.HeapUsage;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Finds problems in each interval. Counters alone cannot prove a yield storm or a monopolized carrier, so the stacks of
 * suspicious threads are sampled as often as {@link ThreadDumps} allows.
 */
public final class Diagnoser {
    /** Percent of a core. Threads that use less are never suspects. */
    static final double MIN_CPU_PERCENT = 10;

    private static final double SYSTEM_HEAVY_SHARE = 0.5;

    static final String YIELD_STORM = "yield-storm";

    /** Of the carriers' CPU time. */
    private static final double MIN_SCHEDULING_SHARE = 0.4;

    /** Per second. Yields do not count as voluntary context switches. */
    private static final double FEW_SWITCHES = 100;

    /** The least share of an interval in which a thread that keeps yielding runs or waits for a processor. */
    private static final double RUNNABLE_SHARE = 0.75;

    /** Per second. When processors are scarce, each yield causes an involuntary context switch. */
    private static final double MANY_SWITCHES = 2_000;

    /** Per second, of one thread. */
    private static final double MANY_YIELDS = 1_000;

    private static final int MAX_PER_KIND = 5;

    /** Percent of an interval in which a monopolized carrier runs or waits for a processor. */
    private static final double MONOPOLIZED_PERCENT = 80;

    private static final double MIN_JVM_PERCENT = 10;
    private static final double MIN_JVM_SHARE = 0.25;
    static final double MIN_THROTTLED_SHARE = 0.05;

    private final ThreadDumps dumps;
    private final StackSamples samples;

    public Diagnoser(ThreadDumps dumps) {
        this.dumps = dumps;
        samples = new StackSamples(dumps);
    }

    public List<Finding> diagnose(
            List<ThreadUsage> threads, ProcessUsage totals, long intervalNanos, AgentClient agent) {
        double seconds = intervalNanos / 1e9;
        List<ThreadUsage> suspicious = new ArrayList<>();
        for (ThreadUsage thread : threads) if (isSuspect(thread, intervalNanos, seconds)) suspicious.add(thread);
        samples.update(suspicious, intervalNanos);

        List<Finding> all = new ArrayList<>();
        Map<String, Integer> countByKind = new HashMap<>();
        for (ThreadUsage thread : suspicious) {
            Suspect suspect = samples.of(thread.tid());
            List<String> evidence = evidence(thread, intervalNanos, seconds);
            Finding found = diagnoseYields(thread, suspect, evidence, agent);
            if (found == null && thread.kind() == ThreadKind.CARRIER)
                found = diagnoseCarrier(thread, suspect, evidence, intervalNanos, agent);
            else if (found == null) found = diagnoseThread(thread, suspect, evidence, intervalNanos);
            if (found != null && countByKind.merge(found.kind(), 1, Integer::sum) <= MAX_PER_KIND) all.add(found);
        }
        diagnoseScheduling(all, threads, intervalNanos, agent);
        List<ThreadUsage> collectors = isCollecting(totals.heap())
                ? threads
                : threads.stream().filter(thread -> !thread.truncated()).toList();
        diagnoseJvm(all, collectors, totals.processNanos(), intervalNanos, ThreadKind.GC, "gc", "garbage collection");
        diagnoseJvm(all, threads, totals.processNanos(), intervalNanos, ThreadKind.JIT, "jit", "compilation");
        diagnoseThrottling(all, totals.containerCores(), totals.throttledNanos(), intervalNanos);
        return all;
    }

    /**
     * Returns whether the JVM paused for a collection. Otherwise a program's thread may only be named like a GC thread.
     */
    private static boolean isCollecting(HeapUsage heap) {
        return heap != null && heap.gcPauses() > 0;
    }

    static void diagnoseThrottling(List<Finding> all, double limit, long throttledNanos, long intervalNanos) {
        if (limit <= 0 || throttledNanos <= MIN_THROTTLED_SHARE * intervalNanos) return;
        all.add(new Finding(
                "throttled",
                0,
                "the container is throttled by its limit of " + number(limit) + " cores",
                List.of("throttled in " + number(100.0 * throttledNanos / intervalNanos)
                        + " % of the periods in which it ran")));
    }

    private static boolean isSuspect(ThreadUsage thread, long intervalNanos, double seconds) {
        double percent = 100.0 * thread.cpuNanos() / intervalNanos;
        if (thread.tid() == 0 || percent < MIN_CPU_PERCENT) return false;
        return switch (thread.kind()) {
            case CARRIER -> true;
            case JAVA, NATIVE -> isSystemHeavy(thread) || thread.involuntary() / seconds > MANY_SWITCHES;
            default -> false;
        };
    }

    static boolean isSystemHeavy(ThreadUsage thread) {
        return thread.systemNanos() > SYSTEM_HEAVY_SHARE * thread.cpuNanos();
    }

    /** Returns whether a thread is known to be almost always runnable, as one is that keeps yielding. */
    static boolean hardlyBlocks(ThreadUsage thread, long intervalNanos) {
        if (thread.voluntary() < 0 || thread.voluntary() / (intervalNanos / 1e9) >= FEW_SWITCHES) return false;
        return thread.waitNanos() < 0 || thread.cpuNanos() + thread.waitNanos() > RUNNABLE_SHARE * intervalNanos;
    }

    /**
     * Returns a diagnosis only if the yields are certain, because the agent counted them or a sample shows one;
     * otherwise null.
     */
    private static Finding diagnoseYields(
            ThreadUsage thread, Suspect suspect, List<String> evidence, AgentClient agent) {
        double counted = agent.yieldsPerSecond(thread.tid());
        if (suspect.yieldingSamples == 0 && counted < MANY_YIELDS) return null;
        boolean carrier = thread.kind() == ThreadKind.CARRIER;
        if (suspect.yieldingSamples > 0) {
            evidence.add((carrier ? "the virtual thread it carried" : "it") + " was in Thread.yield in "
                    + ofSamples(suspect.yieldingSamples, suspect));
        }
        if (counted > 0) {
            evidence.add("the agent counted " + number(counted) + " yields per second");
            evidence.addAll(agent.sites());
        }
        if (agent.yields() < 0) evidence.add(hint(thread.pid()));
        String subject = carrier ? "virtual threads on \"" + thread.name() + "\" keep" : quoted(thread) + " keeps";
        return new Finding(YIELD_STORM, thread.tid(), subject + " calling Thread.yield", evidence);
    }

    /** Says how to count the yields. */
    static String hint(int pid) {
        return "to count the yields by call site, run taskclock yields " + pid;
    }

    private Finding diagnoseThread(ThreadUsage thread, Suspect suspect, List<String> evidence, long intervalNanos) {
        if (!isSystemHeavy(thread)) return null;
        if (suspect.samples == 0 && hardlyBlocks(thread, intervalNanos)) {
            String failure = dumps.failure();
            evidence.add("not confirmed: no stack sample, because "
                    + (failure == null ? "stacks are sampled only occasionally" : failure));
            return new Finding(
                    YIELD_STORM,
                    thread.tid(),
                    quoted(thread) + " behaves as if it kept calling Thread.yield",
                    evidence);
        }
        if (!suspect.topFrame.isEmpty()) evidence.add("top of its stack: " + suspect.topFrame);
        return new Finding(
                "system-heavy", thread.tid(), quoted(thread) + " spends most of its time in the kernel", evidence);
    }

    private Finding diagnoseCarrier(
            ThreadUsage thread, Suspect suspect, List<String> evidence, long intervalNanos, AgentClient agent) {
        // On a busy machine the carrier may wait for a processor. No other virtual thread can use it during that time.
        long occupiedNanos = thread.cpuNanos() + Math.max(0, thread.waitNanos());
        if (suspect.sameCarriedSamples > 0 && 100.0 * occupiedNanos / intervalNanos > MONOPOLIZED_PERCENT) {
            evidence.add("it carried virtual thread #" + suspect.carriedId + " in each of the last "
                    + (suspect.sameCarriedSamples + 1) + " stack samples");
            return new Finding(
                    "carrier-monopolized",
                    thread.tid(),
                    "virtual thread #" + suspect.carriedId + " keeps its carrier \"" + thread.name()
                            + "\" busy; other virtual threads wait",
                    evidence);
        }
        if (agent.yields() >= 0) return null; // the agent counted few yields, or none
        // Yielding virtual threads alternate quickly: samples show the same threads repeatedly, or a carrier between
        // two of them.
        long repeated = samples.repeatedlyMounted();
        if (repeated == 0 || suspect.schedulingSamples < 2 || suspect.schedulingSamples * 3 < suspect.samples)
            return null;
        evidence.add("it was between two virtual threads in " + ofSamples(suspect.schedulingSamples, suspect));
        evidence.add("virtual thread #" + repeated + " was mounted in more than one sample");
        evidence.add("not confirmed: no sample was in Thread.yield; "
                + "JVMs before JDK 24 do not print the stacks of virtual threads");
        evidence.add(hint(thread.pid()));
        return new Finding(
                YIELD_STORM,
                thread.tid(),
                "virtual threads on \"" + thread.name() + "\" behave as if they kept calling Thread.yield",
                evidence);
    }

    /**
     * Finds what the figures of single carriers do not show: each of many carriers may use little CPU time, and few
     * samples may be in Thread.yield.
     */
    private static void diagnoseScheduling(
            List<Finding> all, List<ThreadUsage> threads, long intervalNanos, AgentClient agent) {
        Set<Integer> carriers = new HashSet<>();
        long carrierNanos = 0;
        int pid = 0;
        for (ThreadUsage thread : threads) {
            if (thread.kind() != ThreadKind.CARRIER) continue;
            carriers.add(thread.tid());
            carrierNanos += thread.cpuNanos();
            pid = thread.pid();
        }
        for (Finding found : all) if (found.kind().equals(YIELD_STORM) && carriers.contains(found.tid())) return;
        double percent = 100.0 * agent.schedulingNanos() / intervalNanos;
        if (percent < MIN_CPU_PERCENT) return;
        List<String> evidence = new ArrayList<>();
        double seconds = intervalNanos / 1e9;
        evidence.add("scheduling virtual threads uses " + number(percent) + " % of a core");
        evidence.add("virtual threads were mounted " + number(agent.mounts() / seconds) + " times per second");
        double yields = agent.virtualYields() / seconds;
        if (yields >= MANY_YIELDS) {
            evidence.addAll(agent.sites());
            String text = "virtual threads call Thread.yield " + number(yields) + " times per second";
            all.add(new Finding(YIELD_STORM, 0, text, evidence));
        } else if (agent.yields() < 0 && agent.schedulingNanos() > MIN_SCHEDULING_SHARE * carrierNanos) {
            evidence.add("this is the effect of Thread.yield, or of many short waits");
            evidence.add(hint(pid));
            String text = "carriers spend " + number(100.0 * agent.schedulingNanos() / carrierNanos)
                    + " % of their CPU time on scheduling virtual threads";
            all.add(new Finding("scheduling-heavy", 0, text, evidence));
        }
    }

    static String quoted(ThreadUsage thread) {
        return "thread \"" + thread.name() + "\"";
    }

    static List<String> evidence(ThreadUsage thread, long intervalNanos, double seconds) {
        List<String> evidence = new ArrayList<>();
        evidence.add(number(100.0 * thread.cpuNanos() / intervalNanos) + " % of a core, "
                + number(100.0 * thread.systemNanos() / Math.max(1, thread.cpuNanos())) + " % of that in the kernel");
        if (thread.voluntary() >= 0) {
            evidence.add(number(thread.voluntary() / seconds) + " voluntary and "
                    + number(thread.involuntary() / seconds) + " involuntary context switches per second");
        }
        return evidence;
    }

    private static String ofSamples(int count, Suspect suspect) {
        return count + " of " + suspect.samples + " stack sample" + (suspect.samples == 1 ? "" : "s");
    }

    static void diagnoseJvm(
            List<Finding> all,
            List<ThreadUsage> threads,
            long processNanos,
            long intervalNanos,
            ThreadKind kind,
            String diagnosis,
            String activity) {
        long nanos = 0;
        int count = 0;
        for (ThreadUsage thread : threads) {
            if (thread.kind() != kind || thread.cpuNanos() == 0) continue;
            nanos += thread.cpuNanos();
            count++;
        }
        double percent = 100.0 * nanos / intervalNanos;
        if (percent < MIN_JVM_PERCENT || nanos < MIN_JVM_SHARE * processNanos) return;
        all.add(new Finding(
                diagnosis,
                0,
                activity + " uses " + number(100.0 * nanos / processNanos) + " % of the JVM's CPU time",
                List.of(number(percent) + " % of a core, in " + count + (count == 1 ? " thread" : " threads"))));
    }

    static String number(double value) {
        return String.format(Locale.ROOT, value < 10 && value != Math.rint(value) ? "%.1f" : "%,.0f", value);
    }
}
