// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.taskclock.metrics.AccountKey;
import org.taskclock.monitor.recording.PoolSeries;

/** The named accounts of a recording. */
final class AccountResults {
    /** Precedes the type in the title of a timeline. The script of the page looks for it. */
    static final String TITLE = "CPU by account: ";

    static final String TEXT = "The CPU time of accounts is part of the CPU time of the pools, as is the rest of the"
            + " process, which is called (unaccounted).";

    private static final int MAX_TYPES = 10;

    private final PoolSeries series;

    AccountResults(PoolSeries series) {
        this.series = series;
    }

    List<String> types() {
        return series.pools().stream()
                .filter(PoolSeries.Row::isAccount)
                .map(row -> AccountKey.parse(row.pool()).type())
                .distinct()
                .sorted()
                .limit(MAX_TYPES)
                .toList();
    }

    static Predicate<PoolSeries.Row> areOf(String type) {
        return row -> row.isAccount() && AccountKey.parse(row.pool()).type().equals(type);
    }

    /** Returns a table of all accounts, most CPU time first. */
    Result.Table table() {
        double seconds = Arrays.stream(series.totals().userNanos())
                        .filter(nanos -> nanos >= 0)
                        .count()
                * (series.step().toNanos() / 1e9);
        List<List<Object>> rows = new ArrayList<>();
        for (PoolSeries.Row row : series.pools()) {
            if (!row.isAccount()) continue;
            AccountKey key = AccountKey.parse(row.pool());
            boolean isWaitKnown = Arrays.stream(row.waitNanos()).anyMatch(nanos -> nanos >= 0);
            rows.add(Arrays.asList(
                    key.type(),
                    key.name(),
                    seconds(row.cpuNanos()),
                    seconds(sum(row.userNanos())),
                    seconds(sum(row.systemNanos())),
                    Math.round(row.cpuNanos() / seconds / 1e5) / 100.0,
                    isWaitKnown ? seconds(sum(row.waitNanos())) : null));
        }
        return new Result.Table(
                "Accounts",
                TEXT,
                List.of(
                        new Result.Column("type", ""),
                        new Result.Column("account", ""),
                        new Result.Column("cpu", "s"),
                        new Result.Column("user", "s"),
                        new Result.Column("system", "s"),
                        new Result.Column("mean", "%"),
                        new Result.Column("wait", "s")),
                rows);
    }

    private static long sum(long... nanos) {
        return Arrays.stream(nanos).filter(value -> value > 0).sum();
    }

    private static double seconds(long nanos) {
        return Math.round(nanos / 1e6) / 1e3;
    }
}
