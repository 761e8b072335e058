// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What a flame graph says, for a reader without script. */
final class TopFrames {
    static final List<Result.Column> COLUMNS = List.of(
            new Result.Column("frame", ""),
            new Result.Column("itself", "samples"),
            new Result.Column("with callees", "samples"));

    private static final int ROWS = 25;

    private TopFrames() {}

    static List<List<?>> of(String collapsed) {
        Map<String, long[]> frames = new HashMap<>();
        collapsed.lines().filter(FlamePage::isStack).forEach(line -> {
            int blank = line.lastIndexOf(' ');
            long samples = Long.parseLong(line.substring(blank + 1));
            String[] stack = line.substring(0, blank).split(";", -1);
            Set<String> seen = new HashSet<>();
            for (String frame : stack) {
                // A frame that calls itself is one.
                if (seen.add(frame)) frames.computeIfAbsent(frame, f -> new long[2])[1] += samples;
            }
            frames.get(stack[stack.length - 1])[0] += samples;
        });
        List<List<?>> rows = new ArrayList<>();
        frames.entrySet().stream()
                .sorted(Comparator.comparingLong((Map.Entry<String, long[]> frame) -> -frame.getValue()[0])
                        .thenComparing(Map.Entry::getKey))
                .limit(ROWS)
                .forEach(frame -> rows.add(List.of(frame.getKey(), frame.getValue()[0], frame.getValue()[1])));
        return rows;
    }
}
