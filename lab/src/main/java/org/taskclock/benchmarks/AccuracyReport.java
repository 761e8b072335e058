// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.ClockStatus;

/** Formats the results of {@link AccuracyBenchmark}. */
final class AccuracyReport {
    private static final String UNKNOWN = "-";

    private AccuracyReport() {}

    static String text(List<AccuracyResult> results, ClockStatus status, boolean markdown) {
        return String.join(
                "\n",
                "JDK " + Runtime.version().toString() + ", backend " + status.backend() + " by " + status.binding()
                        + ", tick " + status.tickNanos() / 1_000 + " us, accounting " + status.accounting(),
                "",
                "Error of user / system time, in percent of the CPU time used. Unattributed: time outside of bursts, "
                        + "which counts as system.",
                "",
                errors(results).text(markdown),
                "Lowest cpu - user during the workload, in ms. A negative value is a contradiction between two "
                        + "readings.",
                "",
                lowestSystemTimes(results).text(markdown));
    }

    private static TextTable errors(List<AccuracyResult> results) {
        List<String> headings = new ArrayList<>(List.of("workload", "cpu ms", "true user", "unattributed"));
        for (SplitReader reader : SplitReader.values()) headings.add(reader.toString());
        TextTable table = new TextTable(headings.toArray(String[]::new));
        for (AccuracyResult result : results) {
            List<String> row = new ArrayList<>();
            row.add(result.workload.toString());
            row.add(Goal.format("%,.0f", result.cpuNanos / 1e6));
            row.add(Goal.format("%.1f %%", result.percent(result.userNanos)));
            row.add(Goal.format("%.1f %%", result.percent(result.unattributedNanos())));
            for (SplitReader reader : SplitReader.values()) row.add(error(result, reader));
            table.add(row);
        }
        return table;
    }

    private static String error(AccuracyResult result, SplitReader reader) {
        if (!result.isRead(reader)) return UNKNOWN;
        return Goal.format("%+.1f / %+.1f", result.userError(reader), result.systemError(reader));
    }

    private static TextTable lowestSystemTimes(List<AccuracyResult> results) {
        List<String> headings = new ArrayList<>(List.of("workload"));
        for (SplitReader reader : AccuracyBenchmark.SAMPLED) headings.add(reader.toString());
        TextTable table = new TextTable(headings.toArray(String[]::new));
        for (AccuracyResult result : results) {
            if (result.leastSystemNanos.isEmpty()) continue;
            List<String> row = new ArrayList<>(List.of(result.workload.toString()));
            for (SplitReader reader : AccuracyBenchmark.SAMPLED) {
                row.add(Goal.format("%.2f", result.leastSystemNanos.get(reader) / 1e6));
            }
            table.add(row);
        }
        return table;
    }
}
