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

/** The frames with the most samples in a flame graph, for readers without JavaScript. */
final class TopFrames {
    static final List<Result.Column> COLUMNS = List.of(
            new Result.Column("frame", ""),
            new Result.Column("self", "samples"),
            new Result.Column("total", "samples"));

    private static final int MAX_ROWS = 25;

    private TopFrames() {}

    static List<List<?>> of(String collapsed) {
        // For each frame, the number of samples with it on top and of those with it anywhere in the stack.
        Map<String, long[]> frames = new HashMap<>();
        collapsed.lines().filter(FlameGraphPage::isStack).forEach(line -> {
            int space = line.lastIndexOf(' ');
            long samples = Long.parseLong(line.substring(space + 1));
            String[] stack = line.substring(0, space).split(";", -1);
            Set<String> seen = new HashSet<>();
            for (String frame : stack) {
                // A recursive frame counts once.
                if (seen.add(frame)) frames.computeIfAbsent(frame, f -> new long[2])[1] += samples;
            }
            frames.get(stack[stack.length - 1])[0] += samples;
        });
        List<List<?>> rows = new ArrayList<>();
        frames.entrySet().stream()
                .sorted(Comparator.comparingLong((Map.Entry<String, long[]> frame) -> -frame.getValue()[0])
                        .thenComparing(Map.Entry::getKey))
                .limit(MAX_ROWS)
                .forEach(frame -> rows.add(List.of(frame.getKey(), frame.getValue()[0], frame.getValue()[1])));
        return rows;
    }
}
