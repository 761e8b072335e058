// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.ClockStatus;

/** Shows what Accuracy found. */
final class AccuracyReport {
    private static final String UNKNOWN = "-";

    private AccuracyReport() {}

    static String text(List<Outcome> outcomes, ClockStatus status, boolean markdown) {
        return String.join(
                "\n",
                "JDK " + Runtime.version().toString() + ", rung " + status.rung() + " by " + status.binding()
                        + ", tick " + status.tickNanos() / 1_000 + " us, accounting " + status.accounting(),
                "",
                "Error of user / system time in percent of the cpu time used. Not sure of: what is in no burst, counted as system.",
                "",
                render(errors(outcomes), markdown),
                "Least cpu - user seen on the way, in ms. Less than nothing is impossible.",
                "",
                render(leasts(outcomes), markdown));
    }

    private static String render(Table table, boolean markdown) {
        return markdown ? table.markdown() : table.aligned();
    }

    private static Table errors(List<Outcome> outcomes) {
        List<String> headings = new ArrayList<>(List.of("workload", "cpu ms", "user", "not sure of"));
        for (Reader reader : Reader.values()) headings.add(reader.toString());
        Table table = new Table(headings.toArray(String[]::new));
        for (Outcome outcome : outcomes) {
            List<String> row = new ArrayList<>();
            row.add(outcome.workload.toString());
            row.add(Goal.format("%,.0f", outcome.cpuNanos / 1e6));
            row.add(Goal.format("%.1f %%", outcome.percent(outcome.userNanos)));
            row.add(Goal.format("%.1f %%", outcome.percent(outcome.unsureNanos())));
            for (Reader reader : Reader.values()) row.add(error(outcome, reader));
            table.add(row);
        }
        return table;
    }

    private static String error(Outcome outcome, Reader reader) {
        if (!outcome.isRead(reader)) return UNKNOWN;
        return Goal.format("%+.1f / %+.1f", outcome.userError(reader), outcome.systemError(reader));
    }

    private static Table leasts(List<Outcome> outcomes) {
        List<String> headings = new ArrayList<>(List.of("workload"));
        for (Reader reader : Accuracy.SAMPLED) headings.add(reader.toString());
        Table table = new Table(headings.toArray(String[]::new));
        for (Outcome outcome : outcomes) {
            if (outcome.leastSystemNanos.isEmpty()) continue;
            List<String> row = new ArrayList<>(List.of(outcome.workload.toString()));
            for (Reader reader : Accuracy.SAMPLED) {
                row.add(Goal.format("%.2f", outcome.leastSystemNanos.get(reader) / 1e6));
            }
            table.add(row);
        }
        return table;
    }
}
