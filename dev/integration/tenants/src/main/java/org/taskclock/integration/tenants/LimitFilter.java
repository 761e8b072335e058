// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.tenants;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Locale;
import java.util.Set;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/** Counts the CPU time of each tenant and endpoint, and answers requests over the tenant's limit with 429. */
@Component
final class LimitFilter extends OncePerRequestFilter {
    /** What is limited. */
    private enum Limit {
        /** Nothing. */
        NONE,
        /** The number of a tenant's requests that run at the same time; a common limit, for comparison. */
        CONCURRENCY,
        /** The CPU time of each tenant. */
        CPU
    }

    private static final Limit LIMIT =
            Limit.valueOf(System.getProperty("tenants.limit", "cpu").toUpperCase(Locale.ROOT));

    private static final int MAX_CONCURRENCY = Integer.getInteger("tenants.concurrency", 16);

    /** How long a client waits for its 429, so that it cannot retry at once. A waiting virtual thread costs little. */
    private static final long REJECTION_DELAY_MILLIS = 100;

    private static final Set<String> ENDPOINTS = Set.of("/catalog", "/search", "/orders", "/reports");

    private final Tenants tenants;

    LimitFilter(Tenants tenants) {
        this.tenants = tenants;
    }

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return !ENDPOINTS.contains(request.getRequestURI());
    }

    @Override
    @SuppressWarnings("try") // the sections only need to be open
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        Tenant tenant = tenants.get(request.getHeader("X-Tenant"));
        if (tenant == null) {
            response.sendError(HttpServletResponse.SC_FORBIDDEN);
            return;
        }
        Tenant.Endpoint endpoint = tenant.endpoint(request.getRequestURI());
        try (var all = tenant.account.enter()) {
            long expectedNanos = endpoint.expectedNanos();
            if (!admit(tenant, expectedNanos)) {
                reject(response);
                return;
            }
            try (var one = endpoint.account.enter()) {
                chain.doFilter(request, response);
            } finally {
                endpoint.completed.increment();
                end(tenant, expectedNanos);
            }
        }
    }

    private static boolean admit(Tenant tenant, long expectedNanos) {
        return switch (LIMIT) {
            case NONE -> true;
            case CONCURRENCY -> {
                boolean isAdmitted = tenant.running.incrementAndGet() <= MAX_CONCURRENCY;
                if (!isAdmitted) tenant.running.decrementAndGet();
                yield isAdmitted;
            }
            case CPU -> tenant.budget.reserve(expectedNanos);
        };
    }

    private static void end(Tenant tenant, long expectedNanos) {
        switch (LIMIT) {
            case NONE -> {}
            case CONCURRENCY -> tenant.running.decrementAndGet();
            case CPU -> tenant.budget.release(expectedNanos);
        }
    }

    private static void reject(HttpServletResponse response) {
        try {
            Thread.sleep(REJECTION_DELAY_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        response.setStatus(429);
    }
}
