// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.List;
import java.util.stream.Collectors;

/** Shows what a soak found. */
final class SoakReport {
    private SoakReport() {}

    static String text(Soak.Result result, boolean markdown) {
        Errors.Summary all = result.errors().get(result.errors().size() - 1);
        Table table = table(result.errors());
        String disturbances = result.disturbances().entrySet().stream()
                .map(entry -> Goal.format("%s %,d", entry.getKey(), entry.getValue()))
                .collect(Collectors.joining(", "));
        return String.join(
                "\n",
                Goal.format("%s: %,.0f s.", result.where(), result.seconds()),
                "",
                "Error of TaskClock's cpu in ns: how far it lies outside of what CLOCK_THREAD_CPUTIME_ID says before and after.",
                Goal.format(
                        "These two are %,d ns apart (median); what lies between them counts as 0. No call: readings that took no system call.",
                        all.medianWidth()),
                "",
                markdown ? table.markdown() : table.aligned(),
                "Meanwhile: " + disturbances + ".",
                Goal.format(
                        "The hypervisor took %,d ms of processor time, which no marker shows and some kernels deduct.",
                        result.stolenMillis()),
                "",
                verdicts(result));
    }

    private static Table table(List<Errors.Summary> errors) {
        Table table = new Table(
                "threads",
                "comparisons",
                "no call",
                "outside",
                "50 %",
                "99 %",
                "99.9 %",
                "99.99 %",
                "99.999 %",
                "most ahead",
                "most behind");
        for (Errors.Summary kind : errors) {
            table.add(List.of(
                    kind.kind(),
                    number(kind.comparisons()),
                    kind.quickPercent() + " %",
                    number(kind.comparisons() - kind.exact()),
                    number(kind.p50()),
                    number(kind.p99()),
                    number(kind.p999()),
                    number(kind.p9999()),
                    number(kind.p99999()),
                    number(kind.worstAhead()),
                    number(kind.worstBehind())));
        }
        return table;
    }

    private static String number(long count) {
        return Goal.format("%,d", count);
    }

    private static String verdicts(Soak.Result result) {
        StringBuilder text = new StringBuilder();
        String missed = result.errors().stream()
                .filter(kind -> !kind.meetsTarget())
                .map(kind -> Goal.format("%s (%,d ns)", kind.kind(), kind.p9999()))
                .collect(Collectors.joining(", "));
        text.append("Error below 1 us in 9,999 of 10,000 readings: ")
                .append(missed.isEmpty() ? "met by each kind of thread.\n" : "MISSED by " + missed + ".\n");
        text.append("Went back, did not add up, outran the wall clock, or was off by more than 1 ms: ")
                .append(result.wrongs() == 0 ? "no reading.\n" : Goal.format("WRONG %,d times.\n", result.wrongs()));
        result.wrong().forEach(wrong -> text.append("WRONG: ").append(wrong).append('\n'));
        result.missing()
                .forEach(name -> text.append("NOT DISTURBED: no ").append(name).append(".\n"));
        return text.toString();
    }
}
