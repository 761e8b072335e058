// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.tenants;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * All tenants. Shares the processors among them: each may use the same part, and what a tenant does not need goes to
 * the others.
 */
@Component
final class Tenants {
    static final List<String> NAMES = List.of("catalog", "search", "orders", "reports");

    /** The part of the processors that requests may use. The rest is for HTTP, the garbage collector, and others. */
    private static final double CAPACITY = Double.parseDouble(System.getProperty("tenants.capacity", "0.7"));

    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

    private final Map<String, Tenant> tenants = new TreeMap<>();
    private long refilledNanos = System.nanoTime();

    Tenants() {
        for (String name : NAMES) tenants.put(name, new Tenant());
    }

    /** Returns a tenant, or null if there is none of this name. */
    Tenant get(String name) {
        return name == null ? null : tenants.get(name);
    }

    Map<String, Tenant> all() {
        return tenants;
    }

    /** Adds the processors' time since the last call to the tenants' budgets. */
    @Scheduled(fixedDelay = 10)
    void refill() {
        long nowNanos = System.nanoTime();
        long capacityNanos = (long) ((nowNanos - refilledNanos) * PROCESSORS * CAPACITY);
        refilledNanos = nowNanos;
        List<Tenant> needing = new ArrayList<>();
        long unusedNanos = 0;
        for (Tenant tenant : tenants.values()) {
            long excessNanos = tenant.budget.add(capacityNanos / tenants.size());
            if (excessNanos == 0) needing.add(tenant);
            unusedNanos += excessNanos;
        }
        for (Tenant tenant : needing) tenant.budget.add(unusedNanos / needing.size());
    }
}
