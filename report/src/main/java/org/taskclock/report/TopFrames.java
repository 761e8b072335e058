// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.monitor.profile.CollapsedStacks;

/** The frames with the most samples in a flame graph, for readers without JavaScript. */
final class TopFrames {
    static final List<Result.Column> COLUMNS = List.of(
            new Result.Column("frame", ""),
            new Result.Column("self", "samples"),
            new Result.Column("total", "samples"));

    private static final int MAX_ROWS = 25;

    private TopFrames() {}

    static List<List<?>> of(String collapsed) {
        List<List<?>> rows = new ArrayList<>();
        for (CollapsedStacks.Frame frame :
                CollapsedStacks.of(collapsed).frames().stream().limit(MAX_ROWS).toList())
            rows.add(List.of(frame.name(), frame.self(), frame.total()));
        return rows;
    }
}
