// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.tenants;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.taskclock.CpuAccount;

/** The CPU time of a tenant, in all and by endpoint, and its limit. Thread-safe. */
final class Tenant {
    /** The CPU time that a tenant can use at once after a pause. */
    private static final long BURST_NANOS = Duration.ofMillis(50).toNanos();

    final CpuAccount account = CpuAccount.create();
    final CpuBudget budget = new CpuBudget(account, BURST_NANOS);
    final AtomicInteger running = new AtomicInteger();
    private final Map<String, Endpoint> endpoints = new ConcurrentHashMap<>();

    /** The requests of one tenant to one endpoint. */
    static final class Endpoint {
        final CpuAccount account = CpuAccount.create();
        final LongAdder completed = new LongAdder();

        /** Returns the mean CPU time of a request so far; while there is none, a whole burst. */
        long expectedNanos() {
            long count = completed.sum();
            return count == 0 ? BURST_NANOS : account.cpuNanos() / count;
        }
    }

    Endpoint endpoint(String name) {
        return endpoints.computeIfAbsent(name, ignored -> new Endpoint());
    }

    /** Returns the CPU time of each endpoint, in nanoseconds. */
    Map<String, Long> cpuByEndpoint() {
        Map<String, Long> usage = new TreeMap<>();
        endpoints.forEach((name, endpoint) -> usage.put(name, endpoint.account.cpuNanos()));
        return usage;
    }

    /** Returns the number of sections of any account that could not be counted. */
    long uncounted() {
        long count = account.now().uncounted();
        for (Endpoint endpoint : endpoints.values()) {
            count += endpoint.account.now().uncounted();
        }
        return count;
    }
}
