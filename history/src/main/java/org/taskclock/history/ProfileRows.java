// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.ThreadKind;

/**
 * Divides the CPU time that each pool used in a minute among the stacks that were sampled in it, so that it adds up to
 * the nanosecond. To limit the size, only the stacks with the most CPU time are kept; of others, only the method.
 */
final class ProfileRows {
    /** In a minute, of one JVM. A row takes about 13 bytes, so 20 JVMs take at most about 50 MB a day. */
    static final int MAX_ROWS = 60;

    static final int MAX_ROWS_OF_POOL = 40;

    /** Methods of other stacks. */
    static final int MAX_METHODS = 30;

    private static final String KERNEL = "_[k]";

    /** What a pool used in a minute. */
    record Pool(int series, String name, ThreadKind kind, long userNanos, long systemNanos) {
        long cpuNanos() {
            return userNanos + systemNanos;
        }
    }

    record Row(int series, List<String> frames, long cpuNanos, long samples) {}

    /** The sum of equal stacks. */
    private static final class Sum {
        long samples;
        long weight;

        void add(HistoryProfile.Stack stack) {
            samples += stack.samples();
            weight += stack.weight();
        }
    }

    private final List<Pool> pools;
    private final List<Row> rows = new ArrayList<>();

    private ProfileRows(List<Pool> pools) {
        this.pools = pools;
    }

    /** @param pools the pools of the JVM that used CPU time in the minute, without accounts */
    static List<Row> of(List<HistoryProfile.Stack> stacks, List<Pool> pools) {
        ProfileRows profile = new ProfileRows(pools);
        Map<Pool, Map<List<String>, Sum>> byPool = new HashMap<>();
        for (HistoryProfile.Stack stack : stacks) {
            Pool pool = profile.pool(stack);
            if (pool == null || stack.weight() <= 0) continue;
            byPool.computeIfAbsent(pool, key -> new LinkedHashMap<>())
                    .computeIfAbsent(stack.frames(), key -> new Sum())
                    .add(stack);
        }
        for (Pool pool : pools) profile.add(pool, byPool.getOrDefault(pool, Map.of()));
        return profile.limited();
    }

    /**
     * Returns the pool of a stack; null if none is known that used CPU time. Without the agent, the time of virtual
     * threads is in the pool of their carriers.
     */
    private Pool pool(HistoryProfile.Stack stack) {
        Pool carriers = null;
        Pool other = null;
        for (Pool pool : pools) {
            boolean isVirtual = pool.kind == ThreadKind.VIRTUAL;
            if (isVirtual == stack.isVirtual() && pool.name.equals(stack.pool())) return pool;
            if (pool.kind == ThreadKind.CARRIER && (carriers == null || pool.cpuNanos() > carriers.cpuNanos()))
                carriers = pool;
            if (pool.name.equals(SeriesKeys.OTHER)) other = pool;
        }
        return stack.isVirtual() && carriers != null ? carriers : other;
    }

    private void add(Pool pool, Map<List<String>, Sum> stacks) {
        Map<List<String>, Sum> kernel = new LinkedHashMap<>();
        Map<List<String>, Sum> user = new LinkedHashMap<>();
        stacks.forEach((frames, sum) -> (isKernel(frames) ? kernel : user).put(frames, sum));
        if (kernel.isEmpty()) {
            divide(pool, pool.cpuNanos(), user);
        } else {
            divide(pool, pool.userNanos, user);
            divide(pool, pool.systemNanos, kernel);
        }
    }

    private static boolean isKernel(List<String> frames) {
        return !frames.isEmpty() && frames.get(frames.size() - 1).endsWith(KERNEL);
    }

    private void divide(Pool pool, long nanos, Map<List<String>, Sum> stacks) {
        if (nanos <= 0) return;
        if (stacks.isEmpty()) {
            // Otherwise, each pool that is almost idle would have rows.
            if (nanos >= RollUp.SPARSE_NANOS)
                rows.add(new Row(pool.series, List.of(HistoryProfile.NOT_SAMPLED), nanos, 0));
            return;
        }
        double all = stacks.values().stream().mapToLong(sum -> sum.weight).sum();
        long weight = 0;
        long given = 0;
        for (Map.Entry<List<String>, Sum> stack : stacks.entrySet()) {
            weight += stack.getValue().weight;
            long until = weight >= all ? nanos : Math.min(nanos, (long) (nanos * (weight / all)));
            rows.add(new Row(pool.series, stack.getKey(), until - given, stack.getValue().samples));
            given = until;
        }
    }

    /** Returns the rows with the most CPU time, then what others have by method, and the rest of each pool. */
    private List<Row> limited() {
        List<Row> kept = new ArrayList<>();
        Map<Integer, Integer> counts = new HashMap<>();
        Map<List<Object>, Row> methods = new LinkedHashMap<>();
        for (Row row : sorted(rows)) {
            boolean isSmall = row.frames.size() == 1;
            if (isSmall || (kept.size() < MAX_ROWS && counts.merge(row.series, 1, Integer::sum) <= MAX_ROWS_OF_POOL))
                kept.add(row);
            else merge(methods, row, method(row.frames));
        }
        Map<List<Object>, Row> rest = new LinkedHashMap<>();
        int count = 0;
        for (Row row : sorted(methods.values())) {
            if (count++ < MAX_METHODS) kept.add(row);
            else merge(rest, row, List.of(HistoryProfile.OTHER));
        }
        kept.addAll(rest.values());
        return kept;
    }

    private static List<Row> sorted(Collection<Row> rows) {
        return rows.stream()
                .sorted(Comparator.comparingLong(Row::cpuNanos).reversed())
                .toList();
    }

    private static void merge(Map<List<Object>, Row> rows, Row row, List<String> frames) {
        rows.merge(
                List.of(row.series, frames),
                new Row(row.series, frames, row.cpuNanos, row.samples),
                (a, b) -> new Row(a.series, frames, a.cpuNanos + b.cpuNanos, a.samples + b.samples));
    }

    /** Returns the stack that stands for all stacks of a method whose callers are not kept. */
    static List<String> method(List<String> frames) {
        return List.of(HistoryProfile.OTHER, frames.get(frames.size() - 1));
    }
}
