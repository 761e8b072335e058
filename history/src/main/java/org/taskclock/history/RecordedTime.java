// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The recorded time of rows, as opposed to the time that the clock showed. Recorded time counts the seconds that have
 * been recorded since the start of the history, so neither clock jumps nor downtime makes rows older.
 */
final class RecordedTime {
    private static final int MINUTE = 60;

    /** A sample can begin this much earlier than the part that it is written to. */
    private static final int LONGEST_SAMPLE = 600;

    /** Parts with a shorter gap are merged into one range, to limit their number. */
    private static final int GAP = 86_400;

    /**
     * A part of the history without gaps or clock jumps.
     *
     * @param start the first second that the clock showed
     * @param stop the second after the last one
     * @param at the recorded time at the start
     */
    private record Part(int start, int stop, long at) {}

    /** Clock seconds, from one whole minute to another; the end is excluded. */
    record Range(int start, int stop) {}

    private final List<Part> parts = new ArrayList<>();

    RecordedTime(Connection connection) throws SQLException {
        Sql.query(
                connection,
                row -> parts.add(new Part(row.getInt(1), row.getInt(2), row.getLong(3))),
                "SELECT start, stop, clock FROM recorded");
    }

    /** Returns the recorded time of what will be written next. */
    long now() {
        long now = 0;
        for (Part part : parts) now = Math.max(now, part.at + part.stop - part.start);
        return now;
    }

    /** Returns the clock times that occurred only before a recorded time, in ascending order. */
    List<Range> before(long recorded) {
        List<Range> old = new ArrayList<>();
        List<Range> young = new ArrayList<>();
        for (Part part : parts) {
            long split = part.start + Math.max(0, Math.min(recorded - part.at, part.stop - part.start));
            if (split > part.start) old.add(range(part.start - LONGEST_SAMPLE, split));
            if (split < part.stop) young.add(range(split, part.stop));
        }
        return without(merged(old, GAP), merged(young, 0));
    }

    /** Returns the ranges that contain a second which was recorded and not yet forgotten. */
    List<Range> known(List<Range> ranges) {
        List<Range> known = new ArrayList<>();
        for (Range range : ranges) {
            if (parts.stream().anyMatch(part -> part.start - LONGEST_SAMPLE < range.stop && part.stop > range.start))
                known.add(range);
        }
        return known;
    }

    private static Range range(long start, long stop) {
        long end = (stop + MINUTE - 1) / MINUTE * MINUTE;
        return new Range((int) (Math.max(0, start) / MINUTE * MINUTE), (int) Math.min(Integer.MAX_VALUE, end));
    }

    /** Returns the union of ranges, in ascending order. */
    static List<Range> merged(List<Range> ranges, int gap) {
        List<Range> sorted = new ArrayList<>(ranges);
        sorted.sort(Comparator.comparingInt(Range::start));
        List<Range> merged = new ArrayList<>();
        for (Range range : sorted) {
            Range last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
            if (last == null || range.start - gap > last.stop) merged.add(range);
            else merged.set(merged.size() - 1, new Range(last.start, Math.max(last.stop, range.stop)));
        }
        return merged;
    }

    private static List<Range> without(List<Range> ranges, List<Range> excluded) {
        List<Range> rest = new ArrayList<>();
        for (Range range : ranges) {
            int from = range.start;
            for (Range hole : excluded) {
                if (hole.stop <= from || hole.start >= range.stop) continue;
                if (hole.start > from) rest.add(new Range(from, hole.start));
                from = hole.stop;
            }
            if (from < range.stop) rest.add(new Range(from, range.stop));
        }
        return rest;
    }
}
