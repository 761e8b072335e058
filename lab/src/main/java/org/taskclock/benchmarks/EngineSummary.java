// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import java.util.function.ToLongFunction;

/** The cost of readings for an engine, and their errors, over all forks. */
final class EngineSummary {
    private static final List<ReadingLoop> CLOCKS =
            List.of(ReadingLoop.NOTHING, ReadingLoop.STOCK_CPU, ReadingLoop.CPU_NANOS);
    private static final int READINGS_PER_CALL = 2;

    private final RowSummary row;
    private final RoundStatistics blocks;

    EngineSummary(RowSummary row) {
        this.row = row;
        blocks = new RoundStatistics(nanos(ReadingLoop.NOTHING).length);
    }

    /** Returns the CPU time of all blocks of all forks. */
    private double[] nanos(ReadingLoop clock) {
        return row.forks().stream()
                .flatMap(fork -> fork.engine().cpuNanos().get(clock.text).stream())
                .mapToDouble(Long::doubleValue)
                .toArray();
    }

    /** Returns the number of readings in each block of all forks. */
    private double[] readings() {
        return row.forks().stream()
                .flatMapToDouble(fork -> fork.engine().cpuNanos().get(ReadingLoop.NOTHING.text).stream()
                        .mapToDouble(unused -> READINGS_PER_CALL * fork.engine().calls()))
                .toArray();
    }

    /** Formats the median with its 95 % confidence interval by ranks. */
    private String median(String format, IntToDoubleFunction values) {
        double ranks = 0.98 / Math.sqrt(blocks.count());
        return Goal.format(
                format + " (" + format + " to " + format + ")",
                blocks.quantile(0.5, values),
                blocks.quantile(Math.max(0.5 - ranks, 0), values),
                blocks.quantile(Math.min(0.5 + ranks, 1), values));
    }

    List<List<String>> costs() {
        double[] none = nanos(ReadingLoop.NOTHING);
        double[] readings = readings();
        List<List<String>> costs = new ArrayList<>();
        for (ReadingLoop clock : CLOCKS) {
            double[] some = nanos(clock);
            boolean reads = clock != ReadingLoop.NOTHING;
            costs.add(List.of(
                    row.text(),
                    clock.text,
                    median("%.2f", block -> some[block] / 1e6),
                    reads ? median("%.1f", block -> (some[block] - none[block]) / readings[block]) : "",
                    reads ? median("%.2f", block -> 100 * (1 - none[block] / some[block])) : ""));
        }
        return costs;
    }

    List<String> errors() {
        long comparisons = sum(ReadingErrors.Summary::comparisons);
        double ahead = row.forks().stream()
                .mapToDouble(fork -> fork.engine().errors().meanAhead()
                        * fork.engine().errors().comparisons())
                .sum();
        return List.of(
                row.text(),
                Goal.format("%,d", comparisons),
                Goal.format("%.0f %%", row.median(fork -> fork.engine().errors().quickPercent())),
                Goal.format("%+.1f", ahead / comparisons),
                Goal.format("%,d", max(ReadingErrors.Summary::p9999)),
                Goal.format("%,d", max(ReadingErrors.Summary::worstAhead)),
                Goal.format("%,d", max(ReadingErrors.Summary::worstBehind)),
                Goal.format("%.0f", row.median(fork -> fork.engine().errors().medianWidth())));
    }

    private long sum(ToLongFunction<ReadingErrors.Summary> figure) {
        return row.forks().stream()
                .mapToLong(fork -> figure.applyAsLong(fork.engine().errors()))
                .sum();
    }

    private long max(ToLongFunction<ReadingErrors.Summary> figure) {
        return row.forks().stream()
                .mapToLong(fork -> figure.applyAsLong(fork.engine().errors()))
                .max()
                .orElse(0);
    }
}
