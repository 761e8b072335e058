// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.Comparator;
import java.util.List;
import org.taskclock.AccountReading;
import org.taskclock.AccountType;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ThreadUsage;

/** The rows of named accounts, which tables can show instead of threads. */
final class AccountRows {
    private AccountRows() {}

    /** Returns the types of accounts in alphabetical order. */
    static List<String> types(List<Interval> intervals) {
        return intervals.stream()
                .flatMap(interval -> interval.accounts().stream())
                .map(AccountRows::type)
                .distinct()
                .sorted()
                .toList();
    }

    /** Returns the type of an account; an empty string for a thread. */
    static String type(ThreadUsage usage) {
        return usage.kind() == ThreadKind.ACCOUNT ? key(usage).type() : "";
    }

    static String name(ThreadUsage account) {
        return key(account).name();
    }

    private static AccountKey key(ThreadUsage account) {
        return AccountKey.parse(account.pool());
    }

    /** Returns whether this is not an account but what belongs to none, or to those without a row. */
    static boolean isRest(ThreadUsage usage) {
        return rank(usage) > 0;
    }

    private static int rank(ThreadUsage usage) {
        if (usage.kind() != ThreadKind.ACCOUNT) return 0;
        return switch (name(usage)) {
            case AccountType.OTHER -> 1;
            case AccountReading.UNACCOUNTED -> 2;
            default -> 0;
        };
    }

    /** Returns the order of rows by type, with the rest of each type at its end. */
    static Comparator<TableModel.Row> order(Comparator<TableModel.Row> withinType) {
        return Comparator.<TableModel.Row, String>comparing(row -> type(row.thread()))
                .thenComparing(row -> rank(row.thread()))
                .thenComparing(withinType);
    }

    /** Returns why an interval has no accounts, and what to do. */
    static String absence(Interval interval) {
        return absence(interval, "run taskclock attach " + interval.pid());
    }

    /** @param remedy how to load the agent */
    static String absence(Interval interval, String remedy) {
        return "process " + interval.pid() + ": no named accounts"
                + (AgentOffer.hasAgent(interval)
                        ? " yet: use CpuAccounts in the program, or run taskclock attach --accounts endpoint"
                        : " without the agent: " + remedy);
    }
}
