// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.taskclock.metrics.Counters;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.sampling.ColumnUnit;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The rows of the table: the threads or accounts of all intervals, filtered, sorted, and optionally grouped by pool.
 */
final class TableModel {
    private TableModel() {}

    /**
     * A thread or a pool.
     *
     * @param key identifies the thread or pool across intervals
     * @param thread for a pool, the sums of its threads
     * @param members threads of a pool; empty for a thread
     * @param inPool whether the row is shown within an expanded pool
     */
    record Row(String key, Interval interval, ThreadUsage thread, List<Row> members, boolean inPool) {
        static Row of(Interval interval, ThreadUsage thread) {
            return new Row(thread.key(), interval, thread, List.of(), false);
        }

        boolean isPool() {
            return !members.isEmpty();
        }
    }

    static List<Row> rows(List<Interval> intervals, ViewState view) {
        return rows(intervals, view, view::isExpanded);
    }

    /**
     * Returns the rows.
     *
     * @param expanded whether to show the threads of the pool with this key
     */
    static List<Row> rows(List<Interval> intervals, ViewState view, Predicate<String> expanded) {
        List<Row> all = new ArrayList<>();
        for (Interval interval : intervals) {
            for (ThreadUsage thread : view.usages(interval)) {
                if (!view.isVisible(thread)) continue;
                all.add(Row.of(interval, thread));
            }
        }
        Comparator<Row> order = view.sort == ThreadColumn.RISE ? view.history.byRise() : order(view.sort);
        if (view.reversed) order = order.reversed();
        if (!view.showsPools()) {
            all.sort(AccountRows.order(order));
            return all;
        }
        return groupByPool(all, order, expanded, new PoolTimes(intervals, view));
    }

    /**
     * Returns the order of rows: values from high to low, ids from low to high, text alphabetically. Ties are ordered
     * by CPU time.
     */
    static Comparator<Row> order(ThreadColumn column) {
        Comparator<Row> order;
        if (column.unit == ColumnUnit.TEXT) {
            order = Comparator.comparing(row -> column.text(row.thread()), String.CASE_INSENSITIVE_ORDER);
            if (column.isJavaStatus())
                order = Comparator.<Row, Boolean>comparing(
                                row -> !row.thread().java().contended())
                        .thenComparing(order);
        } else {
            int sign = column.unit.isAscending() ? 1 : -1;
            order = Comparator.comparingDouble(row -> sign * column.value(row.thread(), row.interval()));
        }
        return order.thenComparingLong(row -> -row.thread().cpuNanos());
    }

    /** Returns at most so many rows, and those for the rest of the accounts; for each type if there are several. */
    static List<Row> limit(List<Row> rows, int limit) {
        if (limit == 0) return rows;
        Map<String, Integer> counts = new HashMap<>();
        return rows.stream()
                .filter(row -> AccountRows.isRest(row.thread())
                        || counts.merge(AccountRows.type(row.thread()), 1, Integer::sum) <= limit)
                .toList();
    }

    private static List<Row> groupByPool(
            List<Row> all, Comparator<Row> order, Predicate<String> expanded, PoolTimes times) {
        Map<String, List<Row>> pools = new LinkedHashMap<>();
        for (Row row : all)
            pools.computeIfAbsent(poolKey(row.thread()), k -> new ArrayList<>()).add(row);
        List<Row> top = new ArrayList<>();
        for (Map.Entry<String, List<Row>> entry : pools.entrySet()) {
            List<Row> members = entry.getValue();
            if (members.size() == 1 && times.of(entry.getKey()).ended() == 0) {
                top.add(members.get(0));
            } else {
                top.add(pool(entry.getKey(), members, times.of(entry.getKey())));
            }
        }
        top.sort(order);
        List<Row> rows = new ArrayList<>();
        for (Row row : top) {
            rows.add(row);
            if (!expanded.test(row.key())) continue;
            List<Row> members = new ArrayList<>(row.members());
            members.sort(order);
            for (Row member : members) {
                rows.add(new Row(member.key(), member.interval(), member.thread(), List.of(), true));
            }
        }
        return rows;
    }

    private static String poolKey(ThreadUsage thread) {
        return poolKey(thread.pid(), thread.kind(), thread.pool());
    }

    /** Groups virtual threads with their carriers, whose time includes theirs. */
    static String poolKey(int pid, ThreadKind kind, String pool) {
        boolean virtual = kind == ThreadKind.CARRIER || kind == ThreadKind.VIRTUAL;
        return "pool " + pid + " " + (virtual ? "carriers" : kind + " " + pool);
    }

    private static Row pool(String key, List<Row> members, PoolTimes.Times times) {
        // The carriers' time includes that of the virtual threads, unless a filter hides the carriers.
        List<Row> counted = new ArrayList<>(members);
        counted.removeIf(row -> row.thread().kind() == ThreadKind.VIRTUAL);
        String name =
                counted.isEmpty() ? "virtual threads" : counted.get(0).thread().pool();
        if (counted.isEmpty()) counted = members;
        Row first = counted.get(0);
        ThreadUsage firstThread = first.thread();
        ThreadUsage sum = ThreadUsage.of(firstThread.pid(), 0, name, firstThread.kind())
                .pool(firstThread.pool())
                .build();
        int threads = 0;
        boolean userKnown = true;
        long total = times.totalNanos();
        long watched = times.watchedNanos();
        char state = 'S';
        for (Row row : counted) {
            ThreadUsage thread = row.thread();
            sum = sum.plus(thread);
            threads += thread.threads();
            if (thread.cpuNanos() > 0 && thread.userNanos() < 0) userKnown = false;
            if (thread.kind() == ThreadKind.VIRTUAL) {
                total = Counters.sum(total, thread.totalNanos());
                watched = Counters.sum(watched, thread.watchedNanos());
            }
            if (thread.state() == 'R') state = 'R';
        }
        sum = sum.change()
                .threads(threads)
                .cpu(sum.cpuNanos(), userKnown ? sum.userNanos() : -1)
                .state(state)
                .total(total, watched)
                .java(JavaStatus.ofPool(
                        counted.stream().map(row -> row.thread().java()).toList()))
                .build();
        return new Row(key, first.interval(), sum, List.copyOf(members), false);
    }

    /**
     * Compiles a case-insensitive expression, or a literal if the syntax is invalid, as it may be while being typed.
     */
    static Pattern pattern(String expression) {
        try {
            return Pattern.compile(expression, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);
        } catch (PatternSyntaxException e) {
            return Pattern.compile(expression, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE | Pattern.LITERAL);
        }
    }

    /** Returns whether the pattern occurs in the name or pool, or equals the thread id. */
    static boolean matches(ThreadUsage thread, Pattern pattern) {
        return pattern.matcher(thread.name()).find()
                || pattern.matcher(thread.pool()).find()
                || (thread.tid() != 0
                        && pattern.matcher(Integer.toString(thread.tid())).matches());
    }
}
