// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A sampled profile of some threads of a JVM, with their CPU time in the same interval.
 *
 * @param program the program's main class or jar
 * @param threads what was profiled, such as 'thread "main" (4711)'
 * @param source what was sampled and how
 * @param periodNanos the CPU time between two samples; 0 if it is not constant
 * @param cpuNanos the CPU time of these threads in the interval, from /proc; -1 if unknown
 * @param userNanos the part of it in user mode; -1 if unknown
 * @param stacks the stacks with the most CPU time first
 * @param notes limitations of this profile, one per element
 */
public record Profile(
        long pid,
        String program,
        String threads,
        Instant end,
        long intervalNanos,
        String source,
        long periodNanos,
        long cpuNanos,
        long userNanos,
        List<Stack> stacks,
        List<String> notes) {
    /**
     * Equal stacks.
     *
     * @param frames outermost first. As in async-profiler's collapsed stacks, a suffix gives the type of a frame:
     *     {@code _[j]} for compiled, {@code _[i]} for inlined, and {@code _[0]} for interpreted Java code, {@code _[k]}
     *     for the kernel.
     * @param cpuNanos the CPU time that the samples stand for
     */
    public record Stack(List<String> frames, long samples, long cpuNanos) {}

    /**
     * A method.
     *
     * @param selfNanos CPU time in the method itself
     * @param totalNanos CPU time in the method and its callees
     */
    public record Method(String name, long selfNanos, long totalNanos) {}

    static final String NO_STACK = "[no stack]";

    /** Adds up equal stacks. */
    static List<Stack> merge(List<StackSource.Sample> samples) {
        Map<List<String>, Stack> merged = new LinkedHashMap<>();
        for (StackSource.Sample sample : samples) {
            List<String> frames = sample.frames().isEmpty() ? List.of(NO_STACK) : sample.frames();
            merged.merge(
                    frames,
                    new Stack(frames, sample.samples(), sample.cpuNanos()),
                    (a, b) -> new Stack(frames, a.samples + b.samples, a.cpuNanos + b.cpuNanos));
        }
        List<Stack> stacks = new ArrayList<>(merged.values());
        stacks.sort(Comparator.comparingLong(Stack::cpuNanos).reversed());
        return stacks;
    }

    /** Returns a frame without the suffix for its type. */
    public static String name(String frame) {
        int end = frame.length() - 4;
        boolean hasType = end > 0 && frame.startsWith("_[", end) && frame.endsWith("]");
        return hasType ? frame.substring(0, end) : frame;
    }

    /** Returns the same profile under another name of the program. */
    public Profile named(String name) {
        return new Profile(
                pid, name, threads, end, intervalNanos, source, periodNanos, cpuNanos, userNanos, stacks, notes);
    }

    public long samples() {
        return stacks.stream().mapToLong(Stack::samples).sum();
    }

    /** Returns the CPU time that the samples stand for. */
    public long sampledNanos() {
        return stacks.stream().mapToLong(Stack::cpuNanos).sum();
    }

    /** Returns the share of the threads' CPU time that the samples stand for, in percent; -1 if it is unknown. */
    public double coveredPercent() {
        return cpuNanos <= 0 ? -1 : 100.0 * sampledNanos() / cpuNanos;
    }

    /** Returns a share of the sampled CPU time in percent. */
    public double percent(long nanos) {
        long all = sampledNanos();
        return all == 0 ? 0 : 100.0 * nanos / all;
    }

    /** Returns all methods, those with the most CPU time of their own first. */
    public List<Method> methods() {
        Map<String, long[]> nanos = new HashMap<>();
        for (Stack stack : stacks) {
            Set<String> seen = new HashSet<>();
            String last = "";
            for (String frame : stack.frames()) {
                last = name(frame);
                // A recursive method counts once.
                if (seen.add(last)) nanos.computeIfAbsent(last, name -> new long[2])[1] += stack.cpuNanos();
            }
            nanos.get(last)[0] += stack.cpuNanos();
        }
        List<Method> methods = new ArrayList<>();
        nanos.forEach((name, time) -> methods.add(new Method(name, time[0], time[1])));
        methods.sort(Comparator.comparingLong(Method::selfNanos)
                .thenComparingLong(Method::totalNanos)
                .reversed()
                .thenComparing(Method::name));
        return methods;
    }

    /**
     * Returns the stacks as lines of frames, separated by semicolons, with the number of samples, or if these stand for
     * different times, with milliseconds.
     */
    public String collapsed() {
        StringBuilder text = new StringBuilder();
        for (Stack stack : stacks) {
            String line = String.join(";", stack.frames()).replace('\n', ' ');
            long count = periodNanos > 0 ? stack.samples() : Math.max(1, Math.round(stack.cpuNanos() / 1e6));
            text.append(line).append(' ').append(count).append('\n');
        }
        return text.toString();
    }
}
