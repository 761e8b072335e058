// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** Adds up readings of pools or threads. Thread counts are those of the last reading. */
final class UsageSums {
    /** {@code tid} is 0 for a pool. */
    private record Key(int tid, String name, ThreadKind kind) {}

    private final Map<Key, ThreadUsage> sums = new LinkedHashMap<>();

    boolean isEmpty() {
        return sums.isEmpty();
    }

    void add(List<ThreadUsage> reading) {
        // Pools that are missing from this reading no longer have threads.
        sums.replaceAll((key, sum) -> key.tid == 0 && sum.threads() > 0 ? sum(sum, null) : sum);
        for (ThreadUsage usage : reading)
            sums.merge(new Key(usage.tid(), usage.name(), usage.kind()), usage, UsageSums::sum);
    }

    /** Returns the sums and starts again. */
    List<ThreadUsage> take() {
        List<ThreadUsage> taken = new ArrayList<>(sums.values());
        sums.clear();
        return taken;
    }

    /** Adds a reading, returns it with the sums as its pools, and starts again. */
    PoolReading takeWith(PoolReading reading) {
        add(reading.pools());
        return new PoolReading(take(), reading.yields(), reading.process(), reading.threads());
    }

    /** Adds up two usages, or returns one without threads if the other is null. */
    private static ThreadUsage sum(ThreadUsage before, ThreadUsage now) {
        return new ThreadUsage(
                before.pid(),
                before.tid(),
                before.javaId(),
                before.name(),
                before.truncated() || (now != null && now.truncated()),
                before.kind(),
                before.pool(),
                now == null ? 0 : now.threads(),
                sum(before.cpuNanos(), now == null ? -1 : now.cpuNanos()),
                sum(before.userNanos(), now == null ? -1 : now.userNanos()),
                sum(before.waitNanos(), now == null ? -1 : now.waitNanos()),
                sum(before.voluntary(), now == null ? -1 : now.voluntary()),
                sum(before.involuntary(), now == null ? -1 : now.involuntary()),
                before.state(),
                now == null ? before.totalNanos() : now.totalNanos(),
                before.watchedNanos());
    }

    private static long sum(long a, long b) {
        if (a < 0) return Math.max(-1, b);
        return b < 0 ? a : a + b;
    }
}
