// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.List;
import java.util.stream.Collectors;

/** Formats the result of {@link ClockSoak}. */
final class ClockSoakReport {
    private ClockSoakReport() {}

    static String text(ClockSoak.Result result, boolean markdown) {
        ReadingErrors.Summary all = result.errors().get(result.errors().size() - 1);
        TextTable table = table(result.errors());
        String disturbances = result.disturbances().entrySet().stream()
                .map(entry -> Goal.format("%s %,d", entry.getKey(), entry.getValue()))
                .collect(Collectors.joining(", "));
        return String.join(
                "\n",
                Goal.format("%s: %,.0f s.", result.where(), result.seconds()),
                "",
                "Error of TaskClock's cpu in ns: its distance from the interval between two readings of "
                        + "CLOCK_THREAD_CPUTIME_ID, before and after it.",
                Goal.format(
                        "The interval has a median length of %,d ns; the error is 0 inside it. No call: readings "
                                + "that made no system call.",
                        all.medianWidth()),
                "",
                table.text(markdown),
                "Disturbances: " + disturbances + ".",
                Goal.format(
                        "The hypervisor took %,d ms of processor time, which no marker detects and some kernels "
                                + "subtract.",
                        result.stolenMillis()),
                "",
                verdicts(result));
    }

    private static TextTable table(List<ReadingErrors.Summary> errors) {
        TextTable table = new TextTable(
                "threads",
                "comparisons",
                "no call",
                "outside",
                "50 %",
                "99 %",
                "99.9 %",
                "99.99 %",
                "99.999 %",
                "max ahead",
                "max behind");
        for (ReadingErrors.Summary kind : errors) {
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

    private static String verdicts(ClockSoak.Result result) {
        StringBuilder text = new StringBuilder();
        String missed = result.errors().stream()
                .filter(kind -> !kind.meetsTarget())
                .map(kind -> Goal.format("%s (%,d ns)", kind.kind(), kind.p9999()))
                .collect(Collectors.joining(", "));
        text.append("Error below 1 us in 9,999 of 10,000 readings: ")
                .append(missed.isEmpty() ? "met by all kinds of threads.\n" : "MISSED by " + missed + ".\n");
        text.append("Readings that decreased, did not add up, grew faster than wall-clock time, or were off by more "
                        + "than 1 ms: ")
                .append(result.wrongs() == 0 ? "none.\n" : Goal.format("WRONG %,d times.\n", result.wrongs()));
        result.wrong().forEach(wrong -> text.append("WRONG: ").append(wrong).append('\n'));
        result.missing()
                .forEach(name -> text.append("NOT DISTURBED: no ").append(name).append(".\n"));
        return text.toString();
    }
}
