// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A sampled profile of some threads of a JVM. The stacks of each thread are scaled to its CPU time, which was measured
 * in the same interval, so all stacks add up to {@code cpuNanos}.
 *
 * @param program the program's main class or jar
 * @param threads what was profiled, such as 'thread "main" (4711)'
 * @param source what was sampled and how
 * @param periodNanos the CPU time between two samples; 0 if it is not constant
 * @param sampledNanos the CPU time that the samples stand for, before they are scaled
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
        long sampledNanos,
        long cpuNanos,
        long userNanos,
        List<Stack> stacks,
        List<String> notes) {
    /** The mode of a stack that was sampled in the kernel, by a source that sees it. */
    public static final String KERNEL = "kernel";

    /** The mode of any other stack of such a source. */
    public static final String USER = "user";

    /** The kernel's functions for system calls, on x86_64 and aarch64. */
    private static final Pattern SYSTEM_CALL = Pattern.compile("__(?:x64|ia32|arm64)_(?:compat_)?sys_(\\w+)");

    static final String KERNEL_SUFFIX = "_[k]";
    private static final int MAX_SYSTEM_CALLS = 5;
    /** A class file has two bytes for it. */
    private static final int MAX_LINE_DIGITS = 5;

    static final String NO_STACK = "[no stack]";
    static final String NOT_SAMPLED = "[not sampled]";

    /**
     * Equal stacks of one thread.
     *
     * @param pool as in {@link org.taskclock.monitor.usage.ThreadUsage#pool}
     * @param thread its name; "(virtual threads)", followed by the name of their group, and "(ended threads)" stand for
     *     all of these in the pool
     * @param tid as in {@link org.taskclock.monitor.usage.ThreadUsage#tid}; 0 if unknown
     * @param mode {@link #USER} or {@link #KERNEL}; empty if unknown
     * @param frames outermost first. A line follows the method after a colon, if it is known and was asked for. As in
     *     async-profiler's collapsed stacks, a suffix gives the type of a frame: {@code _[j]} for compiled,
     *     {@code _[i]} for inlined, and {@code _[0]} for interpreted Java code, {@code _[k]} for the kernel. "[not
     *     sampled]" is the CPU time of a thread without samples.
     * @param cpuNanos the share of these samples in the thread's CPU time
     */
    public record Stack(
            String pool, String thread, int tid, String mode, List<String> frames, long samples, long cpuNanos) {
        /** Returns the group of the virtual threads, as the agent names it; null if these are no virtual threads. */
        public String virtualGroup() {
            if (!thread.startsWith(MeasuredStacks.VIRTUAL)) return null;
            String group = thread.substring(MeasuredStacks.VIRTUAL.length()).strip();
            return group.isEmpty() ? "(unnamed)" : group;
        }

        Stack plus(Stack other) {
            return with(frames, samples + other.samples, cpuNanos + other.cpuNanos);
        }

        private Stack with(List<String> newFrames, long newSamples, long newNanos) {
            return new Stack(pool, thread, tid, mode, newFrames, newSamples, newNanos);
        }

        /** Adds frames for the pool and the thread. Semicolons would separate frames. */
        private Stack withThreadFrames() {
            List<String> all = new ArrayList<>();
            if (!pool.isEmpty() && !pool.equals(thread)) all.add("[" + pool.replace(';', ',') + "]");
            all.add("[" + thread.replace(';', ',') + (tid == 0 ? "]" : " tid=" + tid + "]"));
            all.addAll(frames);
            return with(all, samples, cpuNanos);
        }
    }

    /**
     * A method.
     *
     * @param selfNanos CPU time in the method itself
     * @param totalNanos CPU time in the method and its callees
     */
    public record Method(String name, long selfNanos, long totalNanos) {}

    /** Returns a frame without the suffix for its type. */
    public static String name(String frame) {
        int end = frame.length() - 4;
        boolean hasType = end > 0 && frame.startsWith("_[", end) && frame.endsWith("]");
        return hasType ? frame.substring(0, end) : frame;
    }

    /** Returns the line at the end of a frame's name; 0 if there is none. */
    static int line(String name) {
        int colon = name.lastIndexOf(':');
        int digits = name.length() - colon - 1;
        if (colon <= 0 || digits == 0 || digits > MAX_LINE_DIGITS) return 0;
        for (int i = colon + 1; i < name.length(); i++) if (name.charAt(i) < '0' || name.charAt(i) > '9') return 0;
        return Integer.parseInt(name, colon + 1, name.length(), 10);
    }

    /** Returns a frame's name without the line. */
    static String method(String name) {
        return line(name) == 0 ? name : name.substring(0, name.lastIndexOf(':'));
    }

    /** Returns the same profile without names of threads and pools, and with another name of the program. */
    public Profile anonymous(String name) {
        List<Stack> anonymous = stacks.stream()
                .map(stack -> new Stack("", "", 0, stack.mode, stack.frames, stack.samples, stack.cpuNanos))
                .toList();
        return new Profile(
                pid,
                name,
                threads,
                end,
                intervalNanos,
                source,
                periodNanos,
                sampledNanos,
                cpuNanos,
                userNanos,
                anonymous,
                notes);
    }

    /** Returns the start of the interval in nanoseconds since 1970. */
    long startEpochNanos() {
        Instant start = end.minusNanos(intervalNanos);
        return TimeUnit.SECONDS.toNanos(start.getEpochSecond()) + start.getNano();
    }

    public long samples() {
        return stacks.stream().mapToLong(Stack::samples).sum();
    }

    /** Returns the share of the threads' CPU time that the samples stand for, in percent; -1 if it is unknown. */
    public double coveredPercent() {
        return cpuNanos <= 0 ? -1 : 100.0 * sampledNanos / cpuNanos;
    }

    /** Returns the CPU time of all stacks: {@code cpuNanos}, unless that is unknown. */
    public long totalNanos() {
        return stacks.stream().mapToLong(Stack::cpuNanos).sum();
    }

    /** Returns a share of the CPU time in percent. */
    public double percent(long nanos) {
        long all = cpuNanos > 0 ? cpuNanos : totalNanos();
        return all == 0 ? 0 : 100.0 * nanos / all;
    }

    /**
     * Returns the stacks for a flame graph. If several threads were profiled, the first frames are the pool, unless it
     * is called as its only thread, and the thread, both in brackets.
     */
    public List<Stack> flameStacks() {
        boolean hasSeveralThreads = stacks.stream()
                        .map(stack -> stack.tid + stack.thread + stack.pool)
                        .distinct()
                        .limit(2)
                        .count()
                > 1;
        return hasSeveralThreads ? stacks.stream().map(Stack::withThreadFrames).toList() : stacks;
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
     * Returns the system calls in which the threads were sampled, with their CPU time, those with the most first; empty
     * if the source does not see the kernel.
     */
    public List<Method> systemCalls() {
        Map<String, Long> nanos = new HashMap<>();
        for (Stack stack : stacks) {
            for (String frame : stack.frames()) {
                Matcher call = SYSTEM_CALL.matcher(name(frame));
                if (!call.matches()) continue;
                nanos.merge(call.group(1), stack.cpuNanos(), Long::sum);
                break;
            }
        }
        List<Method> calls = new ArrayList<>();
        nanos.forEach((name, time) -> calls.add(new Method(name, 0, time)));
        calls.sort(Comparator.comparingLong(Method::totalNanos).reversed().thenComparing(Method::name));
        return calls;
    }

    /** Returns the system calls with the most CPU time as text; empty if none is known. */
    public String describeSystemCalls() {
        return systemCalls().stream()
                .limit(MAX_SYSTEM_CALLS)
                .map(call -> String.format(Locale.ROOT, "%s %.1f %%", call.name(), percent(call.totalNanos())))
                .collect(Collectors.joining(", "));
    }

    /**
     * Returns {@link #flameStacks} as lines: the frames, separated by semicolons, then a space and the microseconds of
     * CPU time. Only less than a microsecond is lost by rounding, in all stacks together.
     */
    public String collapsed() {
        StringBuilder text = new StringBuilder();
        long nanos = 0;
        for (Stack stack : flameStacks()) {
            long micros = (nanos + stack.cpuNanos) / 1_000 - nanos / 1_000;
            nanos += stack.cpuNanos;
            if (micros == 0) continue;
            String line = String.join(";", stack.frames).replace('\n', ' ');
            text.append(line).append(' ').append(micros).append('\n');
        }
        return text.toString();
    }
}
