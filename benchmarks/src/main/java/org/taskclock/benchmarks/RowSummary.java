// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;

/** One row of {@link CadenceBenchmark} over all forks that measured it. Figures are medians of the forks, in ns. */
public final class RowSummary {
    private final CadenceRow row;
    private final List<CadenceResult> forks;

    private RowSummary(CadenceRow row, List<CadenceResult> forks) {
        this.row = row;
        this.forks = forks;
    }

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

    CadenceRow row() {
        return row;
    }

    List<CadenceResult> forks() {
        return forks;
    }

    public boolean isByWork() {
        return row.group() == CadenceRow.Group.CADENCE;
    }

    public boolean isBySwitches() {
        return row.group() == CadenceRow.Group.SWITCHES;
    }

    /** Readings per bracket. */
    public int reads() {
        return row.reads();
    }

    /** The name for a table. */
    public String text() {
        return row.text();
    }

    /** Whether most readings made no system call, in each fork. */
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

    /** Context switches per bracket. */
    double switches() {
        return median(fork -> fork.cost().switches());
    }

    /** The mean of TaskClock divided by the mean of stock, of one fork. */
    static double ratio(CadenceResult fork) {
        return mean(fork, Contender.CPU_NANOS.text) / mean(fork, Contender.STOCK.text);
    }

    /** The mean of TaskClock less the mean of the counter alone, of one fork. */
    static double overCounter(CadenceResult fork) {
        return mean(fork, Contender.CPU_NANOS.text) - mean(fork, Contender.COUNTER.text);
    }

    private static double mean(CadenceResult fork, String contender) {
        return fork.cost().mean().get(contender);
    }

    double median(ToDoubleFunction<CadenceResult> figure) {
        double[] sorted = figures(figure).toArray();
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    /** The median with the minimum and maximum of all forks. */
    String range(String format, ToDoubleFunction<CadenceResult> figure) {
        return Goal.format(
                format + " (" + format + " to " + format + ")",
                median(figure),
                figures(figure).min().orElseThrow(),
                figures(figure).max().orElseThrow());
    }

    private DoubleStream figures(ToDoubleFunction<CadenceResult> figure) {
        return forks.stream().mapToDouble(figure).sorted();
    }
}
