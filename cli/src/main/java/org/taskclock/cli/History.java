// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.recording.IntervalSummary;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The CPU use of each thread and account in the last intervals, and that of the process in more of them. A live view
 * adds each interval that it shows; {@link ReplayControl} reads the intervals before the shown one from the recording.
 *
 * <p>Memory: at most 10,000 threads with 60 figures of 4 bytes each, and about 200 bytes for each thread's key and
 * objects: 4.4 MB. Threads that used no CPU time in these intervals take none. The 3,600 summaries of the process, an
 * hour at one interval per second, take about 40 bytes each.
 */
final class History {
    /** The number of intervals of a thread, including the current one. */
    static final int INTERVALS = 60;

    static final int MAX_THREADS = 10_000;
    static final int MAX_SUMMARIES = 3_600;

    /** The number of previous intervals below which a rise is unknown. */
    private static final int MIN_PREVIOUS = 3;

    private static final class Track {
        /** The percentage of interval n is at index n modulo the length. */
        private final float[] percents = new float[INTERVALS];
        /** The last interval in which the thread used CPU time. */
        private long last;

        Track(long number) {
            last = number;
        }

        void add(long number, double percent) {
            // Nothing was stored for the intervals in which the thread was idle.
            for (long n = Math.max(last + 1, number - INTERVALS + 1); n <= number; n++) percents[index(n)] = 0;
            last = number;
            percents[index(number)] += (float) percent;
        }

        double percent(long number) {
            return number > last ? 0 : percents[index(number)];
        }

        private static int index(long number) {
            return (int) (number % INTERVALS);
        }
    }

    private final Map<String, Track> tracks = new HashMap<>();
    private final Deque<IntervalSummary> summaries = new ArrayDeque<>();
    /** The findings of the last interval. */
    private Set<String> findings = Set.of();

    /** The number of intervals that were added. */
    private long count;

    private boolean hasAccounts;

    /** The last interval in which idle threads had to make room. */
    private long emptiedAt = -1;

    void clear() {
        tracks.clear();
        summaries.clear();
        findings = Set.of();
        count = 0;
        emptiedAt = -1;
        hasAccounts = false;
    }

    /** Adds the next intervals, one for each JVM. */
    void add(List<Interval> intervals) {
        long number = count++;
        for (Interval interval : intervals) {
            interval.threads().forEach(thread -> add(thread, interval, number));
            interval.accounts().forEach(account -> add(account, interval, number));
            hasAccounts |= !interval.accounts().isEmpty();
        }
        tracks.values().removeIf(track -> number - track.last >= INTERVALS);
        if (summaries.size() == MAX_SUMMARIES) summaries.removeFirst();
        summaries.addLast(summarize(intervals));
    }

    private void add(ThreadUsage usage, Interval interval, long number) {
        if (usage.cpuNanos() <= 0) return;
        Track track = track(usage.key(), number);
        if (track != null) track.add(number, interval.percent(usage.cpuNanos()));
    }

    /** Returns the thread's track; null if there are too many. Threads that are idle now make room for busy ones. */
    private Track track(String key, long number) {
        Track track = tracks.get(key);
        if (track != null) return track;
        if (tracks.size() >= MAX_THREADS && emptiedAt != number) {
            // Once for each interval: after that, all others are of threads that are busy now.
            emptiedAt = number;
            tracks.values().removeIf(each -> each.last < number);
        }
        if (tracks.size() >= MAX_THREADS) return null;
        track = new Track(number);
        tracks.put(key, track);
        return track;
    }

    private IntervalSummary summarize(List<Interval> intervals) {
        double percent = -1;
        Set<String> current = new HashSet<>();
        List<FindingKind> kinds = new ArrayList<>();
        for (Interval interval : intervals) {
            double process = interval.percent(interval.totals().processNanos());
            if (process >= 0) percent = Math.max(0, percent) + process;
            for (Finding finding : interval.findings()) {
                current.add(interval.pid() + "/" + finding.kind() + "/" + finding.tid());
                if (!kinds.contains(finding.kind())) kinds.add(finding.kind());
            }
        }
        boolean begins = !findings.containsAll(current);
        findings = current;
        Interval first = intervals.get(0);
        return new IntervalSummary(
                first.end().toEpochMilli(), first.intervalNanos() / 1e9f, (float) percent, List.copyOf(kinds), begins);
    }

    /** Returns whether any interval had named accounts. */
    boolean hasAccounts() {
        return hasAccounts;
    }

    /** Returns the number of threads whose figures are kept. */
    int trackedThreads() {
        return tracks.size();
    }

    /** Returns the summaries of the last intervals, oldest first. */
    List<IntervalSummary> summaries() {
        return List.copyOf(summaries);
    }

    /** Returns the number of intervals that were added before the first summary. */
    long firstSummary() {
        return count - summaries.size();
    }

    /**
     * Returns the CPU use of a thread or pool in the last intervals, in percent, oldest first; NaN for those before the
     * first one.
     */
    double[] percents(TableModel.Row row, int intervals) {
        double[] percents = new double[intervals];
        for (int i = 0; i < intervals; i++) if (count - intervals + i < 0) percents[i] = Double.NaN;
        if (!row.isPool()) {
            add(row.key(), percents);
            return percents;
        }
        boolean hasThreads = row.members().stream().anyMatch(member -> !isVirtual(member));
        // The carriers' time includes that of the virtual threads.
        for (TableModel.Row member : row.members()) if (!(hasThreads && isVirtual(member))) add(member.key(), percents);
        return percents;
    }

    private static boolean isVirtual(TableModel.Row row) {
        return row.thread().kind() == ThreadKind.VIRTUAL;
    }

    private void add(String key, double[] percents) {
        Track track = tracks.get(key);
        if (track == null) return;
        for (int i = 0; i < percents.length; i++)
            percents[i] += track.percent(Math.max(0, count - percents.length + i));
    }

    /**
     * Returns the current CPU use minus the median of the previous intervals, in percent; NaN if there are too few.
     * Intervals before a thread started count as 0.
     */
    double rise(TableModel.Row row) {
        int previous = (int) Math.min(count, INTERVALS) - 1;
        if (previous < MIN_PREVIOUS || row.thread().cpuNanos() < 0) return Double.NaN;
        if (!row.isPool() && !tracks.containsKey(row.key())) return 0;
        double[] percents = percents(row, previous + 1);
        double current = percents[previous];
        double[] sorted = Arrays.copyOf(percents, previous);
        Arrays.sort(sorted);
        return current - (sorted[(previous - 1) / 2] + sorted[previous / 2]) / 2;
    }

    /** Returns the order of rows by their rise, highest first, and unknown ones last. */
    Comparator<TableModel.Row> byRise() {
        Map<String, Double> rises = new HashMap<>();
        Comparator<TableModel.Row> order =
                Comparator.comparingDouble(row -> -rises.computeIfAbsent(row.key(), key -> rise(row)));
        return order.thenComparingLong(row -> -row.thread().cpuNanos());
    }
}
