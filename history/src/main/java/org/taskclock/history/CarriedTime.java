// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Subtracts the CPU time of a JVM's virtual threads, which the kernel counts for their carriers, from the carriers'
 * pools, so that the pools add up to the process. Not thread-safe.
 */
final class CarriedTime {
    /** CPU time of virtual threads beyond the known CPU time of their carriers. */
    private long userNanos;

    private long systemNanos;

    /** Returns the pools of an interval, with the CPU time of virtual threads subtracted from their carriers. */
    List<ThreadUsage> subtractFrom(List<ThreadUsage> pools) {
        boolean hasVirtual = false;
        for (ThreadUsage usage : pools) {
            if (usage.kind() != ThreadKind.VIRTUAL || usage.cpuNanos() <= 0) continue;
            hasVirtual = true;
            long user = user(usage);
            userNanos += user;
            systemNanos += usage.cpuNanos() - user;
        }
        if (!hasVirtual && userNanos == 0 && systemNanos == 0) return pools;
        List<ThreadUsage> own = new ArrayList<>(pools.size());
        for (ThreadUsage usage : pools)
            own.add(usage.kind() == ThreadKind.CARRIER && usage.cpuNanos() > 0 ? subtractFrom(usage) : usage);
        return own;
    }

    private ThreadUsage subtractFrom(ThreadUsage carriers) {
        long user = user(carriers);
        long system = carriers.cpuNanos() - user;
        long carriedUser = Math.min(userNanos, user);
        long carriedSystem = Math.min(systemNanos, system);
        userNanos -= carriedUser;
        systemNanos -= carriedSystem;
        return carriers.change()
                .cpu(carriers.cpuNanos() - carriedUser - carriedSystem, user - carriedUser)
                .build();
    }

    /** Returns the user time to record for a usage whose CPU time is known. */
    static long user(ThreadUsage usage) {
        return usage.userNanos() < 0 ? usage.cpuNanos() : Math.min(usage.userNanos(), usage.cpuNanos());
    }
}
