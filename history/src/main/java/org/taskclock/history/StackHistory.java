// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.taskclock.monitor.profile.Profile;

/**
 * The stacks in which a JVM, or several runs of a program, used CPU time.
 *
 * @param profiled how much of the time range was profiled
 * @param stacks those with the most CPU time first; the rest of a pool is one stack
 */
public record StackHistory(Duration profiled, List<Stack> stacks) {
    private static final String SOURCE = "history";

    /**
     * The CPU time of a pool in one stack.
     *
     * @param frames outermost first, see {@link HistoryProfile}
     */
    public record Stack(String pool, String kind, List<String> frames, long cpuNanos, long samples) {}

    /** Returns the stacks of the pool with a name, or else of those that contain it, ignoring case. */
    public StackHistory pool(String name) {
        List<Stack> exact =
                stacks.stream().filter(stack -> stack.pool.equals(name)).toList();
        if (!exact.isEmpty()) return new StackHistory(profiled, exact);
        String part = name.toLowerCase(Locale.ROOT);
        return new StackHistory(
                profiled,
                stacks.stream()
                        .filter(stack -> stack.pool.toLowerCase(Locale.ROOT).contains(part))
                        .toList());
    }

    /**
     * Returns these stacks as a profile, whose interval is the time that was profiled.
     *
     * @param program the name of the program
     * @param threads what was profiled, such as "all threads"
     * @param end the end of the time range
     */
    public Profile profile(long pid, String program, String threads, Instant end, List<String> notes) {
        List<Profile.Stack> named = stacks.stream()
                .map(stack ->
                        new Profile.Stack(stack.pool, stack.pool, 0, "", stack.frames, stack.samples, stack.cpuNanos))
                .toList();
        long cpu = stacks.stream().mapToLong(Stack::cpuNanos).sum();
        return new Profile(pid, program, threads, end, profiled.toNanos(), SOURCE, 0, -1, cpu, -1, named, notes);
    }
}
