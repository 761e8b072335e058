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
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;
import org.taskclock.CpuShares;

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

    /** A request that was admitted. */
    private interface Admission extends AutoCloseable {
        /** Called when the request has ended. */
        @Override
        void close();
    }

    private static final Limit LIMIT =
            Limit.valueOf(System.getProperty("tenants.limit", "cpu").toUpperCase(Locale.ROOT));

    private static final int MAX_CONCURRENCY = Integer.getInteger("tenants.concurrency", 16);

    /** How long a client waits for its 429, so that it cannot retry at once. A waiting virtual thread costs little. */
    private static final long REJECTION_DELAY_MILLIS = 100;

    private static final Set<String> ENDPOINTS = Set.of("/catalog", "/search", "/orders", "/reports");

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return !ENDPOINTS.contains(request.getRequestURI());
    }

    @Override
    @SuppressWarnings("try") // the sections only need to be open
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        String tenant = request.getHeader("X-Tenant");
        if (tenant == null || !Tenants.NAMES.contains(tenant)) {
            response.sendError(HttpServletResponse.SC_FORBIDDEN);
            return;
        }
        Tenants.Endpoint endpoint = Tenants.endpoint(tenant, request.getRequestURI());
        try (var all = Tenants.TENANT.of(tenant).enter();
                var permit = admit(tenant, endpoint)) {
            if (permit == null) {
                reject(response);
                return;
            }
            try (var one = endpoint.account().enter()) {
                chain.doFilter(request, response);
            } finally {
                endpoint.completed().increment();
            }
        }
    }

    /** Returns what to close when the request has ended; null if it is over the limit. */
    private static Admission admit(String tenant, Tenants.Endpoint endpoint) {
        if (LIMIT == Limit.NONE) return () -> {};
        if (LIMIT == Limit.CPU) {
            CpuShares.Permit permit = Tenants.SHARES.admit(tenant, endpoint.expectedNanos());
            return permit == null ? null : permit::close;
        }
        AtomicInteger running = Tenants.running(tenant);
        if (running.incrementAndGet() <= MAX_CONCURRENCY) return running::decrementAndGet;
        running.decrementAndGet();
        return null;
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
