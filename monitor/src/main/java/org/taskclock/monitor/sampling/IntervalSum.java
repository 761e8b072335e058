// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.taskclock.metrics.Counters;
import org.taskclock.metrics.PoolKey;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** Adds up the intervals of one JVM, so that the percentages of the sum are the averages over all intervals. */
public final class IntervalSum {
    /** The number of ended threads beyond which they are all added up in one row. */
    private static final int MAX_ENDED = 1_000;

    private final Map<String, ThreadUsage> threads = new LinkedHashMap<>();
    /** The length of the intervals in which the allocation of a thread was unknown, as in the first one. */
    private final Map<String, Long> unknownNanos = new HashMap<>();

    private final Map<String, ThreadUsage> accounts = new LinkedHashMap<>();
    /** The length of the intervals in which the agent has reported accounts: it may be too slow for short ones. */
    private long accountNanos;

    private Interval last;
    private ProcessUsage totals;
    private long nanos;
    private int count;

    /** Adds the next interval. */
    public void add(Interval interval) {
        last = interval;
        totals = totals == null ? interval.totals() : sum(totals, interval.totals());
        nanos += interval.intervalNanos();
        count++;
        for (ThreadUsage thread : interval.threads()) {
            String key = thread.key();
            threads.merge(key, thread, IntervalSum::sum);
            if (thread.java().allocatedBytes() < 0) unknownNanos.merge(key, interval.intervalNanos(), Long::sum);
        }
        if (!interval.accounts().isEmpty()) accountNanos += interval.intervalNanos();
        for (ThreadUsage account : interval.accounts()) accounts.merge(account.pool(), account, IntervalSum::sum);
        if (threads.size() > interval.threads().size() + MAX_ENDED) mergeEnded(interval);
    }

    private void mergeEnded(Interval interval) {
        Set<String> live = new HashSet<>();
        for (ThreadUsage thread : interval.threads()) live.add(thread.key());
        for (String key : List.copyOf(threads.keySet())) {
            ThreadUsage thread = threads.get(key);
            if (live.contains(key) || thread.tid() == 0) continue;
            threads.remove(key);
            unknownNanos.remove(key);
            ThreadUsage ended = ended(thread);
            threads.merge(ended.key(), ended, IntervalSum::sum);
        }
    }

    private static ThreadUsage ended(ThreadUsage thread) {
        return ThreadUsage.ofGroup(thread.pid(), PoolKey.ENDED, 1)
                .cpu(thread.cpuNanos(), thread.userNanos())
                .waited(thread.waitNanos())
                .switches(thread.voluntary(), thread.involuntary())
                .state('X')
                .build();
    }

    /** Returns the number of intervals. */
    public int count() {
        return count;
    }

    /** Returns one interval that is as long as all of them. It has no findings or notes. */
    public Interval interval() {
        return new Interval(
                last.end(),
                nanos,
                last.pid(),
                last.name(),
                last.source(),
                threads.entrySet().stream()
                        .map(entry -> extrapolate(entry.getKey(), entry.getValue()))
                        .toList(),
                totals,
                List.of(),
                List.of(),
                last.endedPools(),
                accounts.values().stream().map(this::extrapolate).toList());
    }

    private ThreadUsage extrapolate(ThreadUsage account) {
        double factor = (double) nanos / accountNanos;
        return account.change()
                .cpu(scale(account.cpuNanos(), factor), scale(account.userNanos(), factor))
                .waited(scale(account.waitNanos(), factor))
                .build();
    }

    private static long scale(long value, double factor) {
        return value < 0 ? -1 : Math.round(value * factor);
    }

    /** Makes the rate of allocation that of the intervals in which it was known. */
    private ThreadUsage extrapolate(String key, ThreadUsage thread) {
        long unknown = unknownNanos.getOrDefault(key, 0L);
        JavaStatus status = thread.java();
        if (unknown == 0 || status.allocatedBytes() < 0) return thread;
        return thread.change()
                .java(status.with(
                        status.blockedNanos(),
                        status.waitedNanos(),
                        Math.round((double) status.allocatedBytes() * nanos / (nanos - unknown))))
                .build();
    }

    private static ThreadUsage sum(ThreadUsage before, ThreadUsage usage) {
        // Each interval has other ended threads, but the same virtual threads may be in all of them.
        int number = usage.state() == 'X' ? before.threads() + usage.threads() : usage.threads();
        return usage.plus(before)
                .change()
                .threads(number)
                .java(sum(before.java(), usage.java()))
                .build();
    }

    private static JavaStatus sum(JavaStatus before, JavaStatus status) {
        return status.with(
                Counters.sum(before.blockedNanos(), status.blockedNanos()),
                Counters.sum(before.waitedNanos(), status.waitedNanos()),
                Counters.sum(before.allocatedBytes(), status.allocatedBytes()));
    }

    private static ProcessUsage sum(ProcessUsage before, ProcessUsage usage) {
        return new ProcessUsage(
                sum(before.processNanos(), usage.processNanos()),
                sum(before.processUserNanos(), usage.processUserNanos()),
                sum(before.containerNanos(), usage.containerNanos()),
                usage.containerCores(),
                sum(before.throttledNanos(), usage.throttledNanos()),
                sum(before.machineNanos(), usage.machineNanos()),
                usage.processors(),
                sum(before.ownNanos(), usage.ownNanos()),
                sum(before.machineUserNanos(), usage.machineUserNanos()),
                null,
                usage.virtualThreads());
    }

    private static long sum(long before, long nanos) {
        return before < 0 || nanos < 0 ? -1 : before + nanos;
    }
}
