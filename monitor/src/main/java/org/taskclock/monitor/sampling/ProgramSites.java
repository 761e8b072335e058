// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.usage.ThreadUsage;

/** Where in the program's own code busy threads were, from thread dumps. */
final class ProgramSites {
    /** Of one processor, in the interval before a dump. */
    private static final double MIN_SHARE = 0.05;

    private static final int MAX_PER_THREAD = 1_000;

    /** Fewer are chance. */
    private static final int MIN_COUNT = 3;

    private final Map<Integer, List<String>> frames = new HashMap<>();

    /** Returns where in the program the threads that ran in an interval were in a dump, by thread id. */
    static Map<Integer, String> of(Interval interval, ThreadDump dump) {
        Set<Integer> busy = interval.threads().stream()
                .filter(thread -> thread.cpuNanos() > MIN_SHARE * interval.intervalNanos())
                .map(ThreadUsage::tid)
                .collect(Collectors.toSet());
        Map<Integer, String> sites = new HashMap<>();
        for (ThreadDump.Entry entry : dump.all())
            if (busy.contains(entry.tid()) && !waits(entry)) sites.put(entry.tid(), site(entry));
        return sites;
    }

    void add(Map<Integer, String> sites) {
        sites.forEach((tid, site) -> {
            List<String> known = frames.computeIfAbsent(tid, id -> new ArrayList<>());
            if (known.size() < MAX_PER_THREAD) known.add(site);
        });
    }

    /** A thread may have waited at the moment of the dump, although it used CPU time before. */
    private static boolean waits(ThreadDump.Entry entry) {
        return entry.carriedId() == 0 && !entry.text().contains("java.lang.Thread.State: RUNNABLE");
    }

    private static String site(ThreadDump.Entry entry) {
        String mounted = entry.mountedSite();
        String frame = mounted.isEmpty() ? entry.programFrame() : mounted;
        return frame.startsWith("at ") ? frame.substring("at ".length()) : frame;
    }

    /**
     * Returns in how many of the dumps in which a thread ran it was in the same method of the program, with the line
     * that was seen most; empty if that is less than half.
     */
    String describe(ThreadUsage thread) {
        List<String> known = frames.getOrDefault(thread.tid(), List.of());
        List<String> method = largest(known, ProgramSites::method);
        if (method.size() < MIN_COUNT || method.size() * 2 < known.size()) return "";
        return " In " + method.size() + " of " + known.size() + " thread dumps in which it ran, \"" + thread.name()
                + "\" was in " + largest(method, Function.identity()).get(0) + ".";
    }

    private static String method(String frame) {
        return frame.substring(0, Math.max(0, frame.indexOf('(')));
    }

    /** Returns the largest group of equal elements that are not empty; an empty list if there is none. */
    private static List<String> largest(List<String> all, Function<String, String> key) {
        return all.stream().filter(one -> !one.isEmpty()).collect(Collectors.groupingBy(key)).values().stream()
                .max(Comparator.comparingInt(List::size))
                .orElse(List.of());
    }
}
