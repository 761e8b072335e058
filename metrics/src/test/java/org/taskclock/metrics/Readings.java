// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.taskclock.ProcessClock;

/** Takes readings of this JVM, and checks in each that no counter decreases and that the pools add up. */
final class Readings {
    private final JvmThreads threads;
    private final ProcessClock clock = ProcessClock.current();
    private final Map<PoolKey, PoolUsage> last = new HashMap<>();

    Readings(int maxPools) {
        threads = new JvmThreads(maxPools, 0);
    }

    Readings() {
        this(PoolCounters.DEFAULT_MAX_POOLS);
    }

    /** Takes a reading. */
    Readings take() {
        long before = clock.cpuNanos();
        JvmUsage usage = threads.usage();
        long during = clock.cpuNanos() - before;
        long sum = 0;
        for (PoolUsage pool : usage.pools()) {
            PoolUsage earlier = last.put(pool.key(), pool);
            sum += pool.cpuNanos();
            if (earlier == null) continue;
            assertThat(pool.userNanos()).isGreaterThanOrEqualTo(earlier.userNanos());
            assertThat(pool.systemNanos()).isGreaterThanOrEqualTo(earlier.systemNanos());
            assertThat(pool.waitNanos()).isGreaterThanOrEqualTo(earlier.waitNanos());
            assertThat(pool.voluntary()).isGreaterThanOrEqualTo(earlier.voluntary());
            assertThat(pool.involuntary()).isGreaterThanOrEqualTo(earlier.involuntary());
            assertThat(pool.yields()).isGreaterThanOrEqualTo(earlier.yields());
        }
        assertThat(usage.pools()).hasSameSizeAs(last.keySet());
        long process = usage.process().cpuNanos();
        // 1 %, what the threads use while they are being read, and a tick of each running thread that the kernel has
        // not added to the process yet.
        long error = process / 100 + 20 * Load.MILLIS + during;
        if (process >= 0) assertThat(sum).isBetween(process - error, process + error);
        return this;
    }

    /** Returns what a pool has used until the last reading; nothing if it is not known. */
    PoolUsage pool(String name, ThreadKind kind) {
        PoolKey key = new PoolKey(name, kind);
        return last.getOrDefault(key, PoolUsage.none(key));
    }

    PoolUsage java(String name) {
        return pool(name, ThreadKind.JAVA);
    }

    Map<PoolKey, PoolUsage> all() {
        return last;
    }

    /** Returns the CPU time of all pools of a kind. */
    long cpuNanos(ThreadKind kind) {
        return last.values().stream()
                .filter(pool -> pool.kind() == kind)
                .mapToLong(PoolUsage::cpuNanos)
                .sum();
    }
}
