// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.IntervalSource;
import org.taskclock.monitor.usage.ThreadUsage;

/** The JVMs that the terminal interface shows, live or recorded. Confined to the main thread. */
final class JvmSources {
    /**
     * The next intervals of the JVMs.
     *
     * @param sources the JVMs that are still running, in the order of the intervals
     * @param sections the sections of named accounts that have been open longest
     * @param stacks null if none were requested
     * @param error why another JVM has no interval; empty if there is none
     */
    record Sample(
            List<Interval> intervals,
            List<IntervalSource> sources,
            List<OpenSections.Row> sections,
            String stacks,
            String error) {}

    /** Takes a sample, on the thread of the queries. */
    interface Sampling {
        /**
         * Returns the next intervals.
         *
         * @throws IOException if no JVM has any
         */
        Sample run() throws IOException;
    }

    private List<IntervalSource> sources;
    /** The JVMs that the user selected in the interface. */
    private final List<IntervalSource> opened = new ArrayList<>();

    JvmSources(List<? extends IntervalSource> sources) {
        this.sources = List.copyOf(sources);
    }

    /** Returns whether the user has yet to choose a JVM, so that there is nothing to sample. */
    boolean isChoice() {
        return first() instanceof JvmChoice;
    }

    IntervalSource first() {
        return sources.get(0);
    }

    /**
     * Returns the source of a process.
     *
     * @param intervals the last intervals
     */
    IntervalSource find(int pid, List<Interval> intervals) {
        for (int i = 0; i < intervals.size() && i < sources.size(); i++)
            if (intervals.get(i).pid() == pid) return sources.get(i);
        return first();
    }

    /**
     * Returns what samples all JVMs.
     *
     * @param watchesJava whether the Java status of threads is needed
     * @param thread the thread whose stacks are requested; null for none
     * @param intervals the last intervals
     */
    Sampling sampling(boolean watchesJava, ThreadUsage thread, List<Interval> intervals) {
        List<IntervalSource> current = sources;
        IntervalSource source = thread == null ? null : find(thread.pid(), intervals);
        return () -> {
            List<Interval> next = new ArrayList<>();
            List<IntervalSource> remaining = new ArrayList<>(current);
            List<OpenSections.Row> sections = new ArrayList<>();
            String error = "";
            for (IntervalSource each : current) {
                try {
                    each.watchJavaStatus(watchesJava);
                    Interval interval = each.next();
                    next.add(interval);
                    sections.addAll(OpenSections.rows(interval.pid(), each.openSections()));
                } catch (IOException e) {
                    remaining.remove(each);
                    if (remaining.isEmpty()) throw e;
                    error = e.getMessage(); // continue with the others
                }
            }
            String stacks = remaining.contains(source) ? source.stacks(thread) : null;
            return new Sample(next, remaining, OpenSections.longest(sections, sections.size()), stacks, error);
        };
    }

    /** Drops the JVMs that have ended. Returns those that are left. */
    List<IntervalSource> retain(Sample sample) {
        sources = sample.sources();
        return sources;
    }

    /** Replaces all JVMs with one that the user selected. */
    void replaceWith(IntervalSource source) {
        opened.add(source);
        sources = List.of(source);
    }

    /** Closes the JVMs that the user selected. */
    void close() throws IOException {
        for (IntervalSource source : opened) source.close();
    }
}
