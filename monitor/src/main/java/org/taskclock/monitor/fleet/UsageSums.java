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
        sums.replaceAll((key, sum) ->
                key.tid == 0 && sum.threads() > 0 ? sum.change().threads(0).build() : sum);
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

    private static ThreadUsage sum(ThreadUsage before, ThreadUsage now) {
        ThreadUsage sum = now.plus(before);
        return before.truncated() ? sum.change().truncated(true).build() : sum;
    }
}
