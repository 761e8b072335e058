// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import org.apache.commons.math3.stat.StatUtils;

/** One row of {@link CadenceBenchmark} over all forks. Figures are medians of the forks in ns. */
public record RowSummary(CadenceRow row, List<CadenceResult> forks) {
    /** Groups results by row. Rows that were not measured are omitted. */
    public static List<RowSummary> of(List<CadenceResult> results) {
        List<RowSummary> summaries = new ArrayList<>();
        for (CadenceRow row : CadenceRow.ALL) {
            List<CadenceResult> forks = results.stream()
                    .filter(result -> result.row().equals(row.name()))
                    .toList();
            if (!forks.isEmpty()) summaries.add(new RowSummary(row, forks));
        }
        return summaries;
    }

    public boolean isByWork() {
        return row.group() == CadenceRow.Group.CADENCE;
    }

    public boolean isBySwitches() {
        return row.group() == CadenceRow.Group.SWITCHES;
    }

    /** Returns the number of readings per bracket. */
    public int reads() {
        return row.reads();
    }

    public String text() {
        return row.text();
    }

    /** Returns whether most readings made no system call in each fork. */
    boolean isCounting() {
        return forks.stream().allMatch(fork -> fork.environment().isCounting());
    }

    public double mean(String contender) {
        return median(fork -> mean(fork, contender));
    }

    public double middle(String contender) {
        return median(fork -> fork.cost().middle().get(contender));
    }

    public double askedPercent() {
        return median(fork -> fork.cost().askedPercent());
    }

    double switches() {
        return median(fork -> fork.cost().switches());
    }

    /** Returns the mean of TaskClock divided by the mean of stock in one fork. */
    static double ratio(CadenceResult fork) {
        return mean(fork, ReadingLoop.CPU_NANOS.text) / mean(fork, ReadingLoop.STOCK_CPU.text);
    }

    /** Returns the mean of TaskClock minus the mean of the counter alone in one fork. */
    static double overCounter(CadenceResult fork) {
        return mean(fork, ReadingLoop.CPU_NANOS.text) - mean(fork, ReadingLoop.COUNTER.text);
    }

    private static double mean(CadenceResult fork, String contender) {
        return fork.cost().mean().get(contender);
    }

    double median(ToDoubleFunction<CadenceResult> figure) {
        return StatUtils.percentile(figures(figure).toArray(), 50);
    }

    /** Formats the median, and the minimum and maximum of all forks. */
    String range(String format, ToDoubleFunction<CadenceResult> figure) {
        return Goal.format(
                format + " (" + format + " to " + format + ")",
                median(figure),
                figures(figure).min().orElseThrow(),
                figures(figure).max().orElseThrow());
    }

    private DoubleStream figures(ToDoubleFunction<CadenceResult> figure) {
        return forks.stream().mapToDouble(figure);
    }
}
