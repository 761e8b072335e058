// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.sampling.Interval;

/** The findings in a recording and their periods. Consecutive intervals with the same finding form one period. */
final class FindingHistory {
    private static final int MAX_PERIODS_LISTED = 10;
    private static final int MAX_DIAGNOSES = 500;

    /** One kind of finding of one thread. */
    private static final class Entry {
        Finding last;
        long intervals;
        long periods;
        Instant end;
        /** The first periods, each with its start and end. */
        final List<Instant[]> listed = new ArrayList<>();
    }

    private final Map<String, Entry> entries = new LinkedHashMap<>();

    void add(Interval interval) {
        Instant start = interval.end().minusNanos(interval.intervalNanos());
        for (Finding finding : interval.findings()) {
            String key = finding.kind() + " " + finding.tid();
            if (entries.size() >= MAX_DIAGNOSES && !entries.containsKey(key)) continue;
            Entry entry = entries.computeIfAbsent(key, k -> new Entry());
            entry.last = finding;
            entry.intervals++;
            // The end and the length of an interval come from different clocks, and a reading may be late.
            boolean continues = entry.end != null && !start.isAfter(entry.end.plusNanos(interval.intervalNanos() / 2));
            if (!continues) {
                entry.periods++;
                if (entry.listed.size() < MAX_PERIODS_LISTED) entry.listed.add(new Instant[] {start, interval.end()});
            } else if (entry.periods == entry.listed.size()) {
                entry.listed.get(entry.listed.size() - 1)[1] = interval.end();
            }
            entry.end = interval.end();
        }
    }

    /**
     * Returns the findings with their periods, the most frequent first.
     *
     * @param time formats a time
     * @param zone the name of the time zone
     */
    List<Result.Finding> findings(long intervals, Function<Instant, String> time, String zone) {
        return entries.values().stream()
                .sorted(Comparator.comparingLong((Entry entry) -> -entry.intervals))
                .map(entry -> finding(entry, intervals, time, zone))
                .toList();
    }

    private static Result.Finding finding(Entry entry, long intervals, Function<Instant, String> time, String zone) {
        List<String> periods = new ArrayList<>();
        for (Instant[] period : entry.listed) periods.add(time.apply(period[0]) + " to " + time.apply(period[1]));
        long unlisted = entry.periods - periods.size();
        String when = String.join(", ", periods) + (unlisted > 0 ? " and " + unlisted + " more" : "") + " (" + zone
                + "), in " + entry.intervals + " of " + intervals + " intervals";
        String evidence = entry.last.evidence() == null ? "" : String.join("\n", entry.last.evidence());
        return new Result.Finding(entry.last.text(), when, entry.last.kind().id(), evidence);
    }
}
