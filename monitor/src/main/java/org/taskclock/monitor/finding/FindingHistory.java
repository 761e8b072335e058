// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The findings of one JVM over time. Those of one kind and thread in consecutive intervals form one period. */
public final class FindingHistory {
    private static final int MAX_PERIODS_LISTED = 10;
    private static final int MAX_FINDINGS = 500;
    private static final int MIN_INTERVALS = 3;

    /** The findings of one kind about one thread. */
    public static final class Entry {
        private Finding last;
        private long intervals;
        /** The number of intervals before it was first found. */
        private final long before;

        private long periods;
        private Instant end;
        /** The first periods, each with its start and end. */
        private final List<Instant[]> listed = new ArrayList<>();

        Entry(long before) {
            this.before = before;
        }

        /** Returns the latest one. */
        public Finding last() {
            return last;
        }

        /** Returns the number of intervals in which it was found. */
        public long intervals() {
            return intervals;
        }

        /** Returns when it was first found. */
        public Instant begin() {
            return listed.get(0)[0];
        }

        /** Returns the times when it began and ended. */
        public String periods(Function<Instant, String> format) {
            List<String> texts = new ArrayList<>();
            for (Instant[] period : listed) texts.add(format.apply(period[0]) + " to " + format.apply(period[1]));
            long unlisted = periods - texts.size();
            return String.join(", ", texts) + (unlisted > 0 ? " and " + unlisted + " more" : "");
        }
    }

    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private long count;

    /** Adds the findings of the next interval. */
    public void add(List<Finding> findings, Instant end, long intervalNanos) {
        Instant start = end.minusNanos(intervalNanos);
        for (Finding finding : findings) {
            String key = finding.kind() + " " + finding.tid();
            if (entries.size() >= MAX_FINDINGS && !entries.containsKey(key)) continue;
            Entry entry = entries.computeIfAbsent(key, k -> new Entry(count));
            entry.last = finding;
            entry.intervals++;
            // The end and the length of an interval come from different clocks, and a reading may be late.
            boolean continues = entry.end != null && !start.isAfter(entry.end.plusNanos(intervalNanos / 2));
            if (!continues) {
                entry.periods++;
                if (entry.listed.size() < MAX_PERIODS_LISTED)
                    entry.listed.add(new Instant[] {begin(entry, finding, start), end});
            } else if (entry.periods == entry.listed.size()) {
                entry.listed.get(entry.listed.size() - 1)[1] = end;
            }
            entry.end = end;
        }
        count++;
    }

    /** Returns when a period began that was noticed in the interval with this start. */
    private static Instant begin(Entry entry, Finding finding, Instant start) {
        Instant begin = start.minusNanos(finding.earlierNanos());
        return entry.end != null && begin.isBefore(entry.end) ? entry.end : begin;
    }

    /**
     * Returns whether it was found often enough to be a problem, and in at least half of the intervals since it was
     * first found, which may take seconds.
     */
    public boolean hasLasted(Entry entry) {
        long least = Math.min(count, Math.min(MIN_INTERVALS, entry.last.kind().minIntervals()));
        return entry.intervals >= least && 2 * entry.intervals >= count - entry.before;
    }

    /** Returns all findings, the most frequent first. */
    public List<Entry> entries() {
        return entries.values().stream()
                .sorted(Comparator.comparingLong((Entry entry) -> -entry.intervals))
                .toList();
    }
}
