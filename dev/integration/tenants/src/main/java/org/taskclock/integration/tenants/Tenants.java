// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.tenants;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.taskclock.AccountType;
import org.taskclock.CpuAccount;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuShares;

/** The CPU time of all tenants and of their endpoints, and what they may use. Thread-safe. */
final class Tenants {
    static final List<String> NAMES = List.of("catalog", "search", "orders", "reports");

    /** Counts by tenant. */
    static final AccountType TENANT = CpuAccounts.type("tenant");

    /** Counts by tenant and endpoint. */
    private static final AccountType ENDPOINT = CpuAccounts.type("endpoint");

    /** The part of the processors that requests may use. The rest is for HTTP, the garbage collector, and others. */
    private static final double CAPACITY = Double.parseDouble(System.getProperty("tenants.capacity", "0.7"));

    /** The CPU time that a tenant can use at once after a pause. */
    private static final Duration BURST = Duration.ofMillis(50);

    static final CpuShares SHARES =
            new CpuShares(TENANT, CAPACITY * Runtime.getRuntime().availableProcessors(), BURST);

    private static final Map<String, AtomicInteger> RUNNING = new ConcurrentHashMap<>();
    private static final Map<String, Endpoint> ENDPOINTS = new ConcurrentHashMap<>();

    private Tenants() {}

    /** The requests of one tenant to one endpoint. */
    record Endpoint(CpuAccount account, LongAdder completed) {
        /** Returns the mean CPU time of a request so far; while there is none, a whole burst. */
        long expectedNanos() {
            long count = completed.sum();
            return count == 0 ? BURST.toNanos() : account.cpuNanos() / count;
        }
    }

    /** Returns the requests of a tenant to a path that starts with a slash. */
    static Endpoint endpoint(String tenant, String path) {
        return ENDPOINTS.computeIfAbsent(tenant + path, name -> new Endpoint(ENDPOINT.of(name), new LongAdder()));
    }

    /** Returns the number of a tenant's requests that run now. */
    static AtomicInteger running(String tenant) {
        return RUNNING.computeIfAbsent(tenant, ignored -> new AtomicInteger());
    }

    /** Returns the CPU time of each endpoint of a tenant, in nanoseconds. */
    static Map<String, Long> cpuByEndpoint(String tenant) {
        Map<String, Long> usage = new TreeMap<>();
        ENDPOINTS.forEach((name, endpoint) -> {
            if (name.startsWith(tenant + "/"))
                usage.put(name.substring(tenant.length()), endpoint.account.cpuNanos());
        });
        return usage;
    }

    /** Returns the number of a tenant's sections that could not be counted. */
    static long uncounted(String tenant) {
        long count = TENANT.of(tenant).now().uncounted();
        for (String endpoint : cpuByEndpoint(tenant).keySet())
            count += ENDPOINT.of(tenant + endpoint).now().uncounted();
        return count;
    }
}
