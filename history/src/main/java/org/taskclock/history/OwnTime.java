// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.metrics.CarriedTime;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** The pools of one JVM, without the CPU time of its virtual threads in those of their carriers. Not thread-safe. */
final class OwnTime {
    private final CarriedTime userTime = new CarriedTime();
    private final CarriedTime systemTime = new CarriedTime();

    /** Returns the pools of an interval, with the CPU time of virtual threads subtracted from their carriers. */
    List<ThreadUsage> of(List<ThreadUsage> pools) {
        long carrierUser = 0;
        long carrierSystem = 0;
        for (ThreadUsage usage : pools) {
            if (usage.cpuNanos() <= 0) continue;
            long user = user(usage);
            if (usage.kind() == ThreadKind.VIRTUAL) {
                userTime.add(user);
                systemTime.add(usage.cpuNanos() - user);
            } else if (usage.kind() == ThreadKind.CARRIER) {
                carrierUser += user;
                carrierSystem += usage.cpuNanos() - user;
            }
        }
        if (userTime.isEmpty() && systemTime.isEmpty()) return pools;
        userTime.begin(carrierUser);
        systemTime.begin(carrierSystem);
        List<ThreadUsage> own = new ArrayList<>(pools.size());
        for (ThreadUsage usage : pools)
            own.add(usage.kind() == ThreadKind.CARRIER && usage.cpuNanos() > 0 ? subtractFrom(usage) : usage);
        return own;
    }

    private ThreadUsage subtractFrom(ThreadUsage carriers) {
        long user = user(carriers);
        long carriedUser = userTime.takeFrom(user);
        long carriedSystem = systemTime.takeFrom(carriers.cpuNanos() - user);
        return carriers.change()
                .cpu(carriers.cpuNanos() - carriedUser - carriedSystem, user - carriedUser)
                .build();
    }

    /** Returns the user time to record for a usage whose CPU time is known. */
    static long user(ThreadUsage usage) {
        return usage.userNanos() < 0 ? usage.cpuNanos() : Math.min(usage.userNanos(), usage.cpuNanos());
    }
}
