// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.taskclock.AccountType;
import org.taskclock.CpuAccounts;
import org.taskclock.TaskClock;
import org.taskclock.internal.JdkVersions;

/** Requests to a real server. */
@SuppressWarnings("serial") // servlets are never serialized
class AccountFilterTest {
    private final CountedWork work = new CountedWork();
    private final CountedWork otherWork = new CountedWork();
    private final ExecutorService pool = Executors.newFixedThreadPool(2);
    private final WebServer server = new WebServer("/shop")
            .with(AccountFilter.byEndpoint())
            .with(AccountFilter.byHeader("X-Tenant"))
            .with("/orders/*", new Working())
            .with("/failing", new Failing())
            .with("/async", new Asynchronous())
            .with("/forwarding", new Forwarding())
            .with("/failed", new Working())
            .withErrorPage("/failed");

    private final class Working extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) {
            work.run();
        }
    }

    private final class Failing extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws ServletException {
            work.run();
            throw new ServletException("bad order");
        }
    }

    /** Another thread dispatches the request back to the container. */
    private final class Asynchronous extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) {
            work.run();
            if (request.getDispatcherType() == DispatcherType.ASYNC) return;
            AsyncContext async = request.startAsync();
            pool.execute(() -> {
                otherWork.repeat(10);
                async.dispatch();
            });
        }
    }

    private final class Forwarding extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            work.run();
            request.getRequestDispatcher("/orders/1").include(request, response);
            request.getRequestDispatcher("/orders/2").forward(request, response);
            work.run();
        }
    }

    @BeforeEach
    void start() throws Exception {
        server.start();
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
        pool.shutdown();
    }

    @Test
    void shouldCountRequestsByTenantAndEndpoint() throws Exception {
        long before = CountedWork.row("endpoint", "/shop/orders/*").cpuNanos();
        List<Future<Integer>> requests = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            String path = "/shop/orders/" + i;
            String tenant = i % 4 == 0 ? null : "north";
            requests.add(pool.submit(() -> server.get(path, tenant)));
        }
        for (Future<Integer> request : requests) assertThat(request.get()).isEqualTo(200);
        long named = CountedWork.usage("tenant", "north", 12).cpuNanos();
        long unnamed = CountedWork.usage("tenant", "(none)", 4).cpuNanos();
        assertThat(work.portions()).isEqualTo(16);
        work.assertNanos(named + unnamed);
        assertThat(named).isBetween(2 * unnamed, 6 * unnamed);
        work.assertNanos(CountedWork.row("endpoint", "/shop/orders/*").cpuNanos() - before);
    }

    @Test
    void shouldCloseTheSectionsOfFailedRequestsAndCountErrorPages() throws Exception {
        for (int i = 0; i < 6; i++)
            assertThat(server.get("/shop/failing", "failing")).isEqualTo(500);
        assertThat(work.portions()).isEqualTo(12);
        work.assertCounted("tenant", "failing", 12);
        assertThat(CountedWork.usage("endpoint", "/shop/failing", 6).cpuNanos()).isPositive();
        assertThat(CountedWork.usage("endpoint", "/shop/failed", 6).cpuNanos()).isPositive();
    }

    @Test
    void shouldCountEachDispatchOfAsynchronousRequests() throws Exception {
        for (int i = 0; i < 6; i++)
            assertThat(server.get("/shop/async", "asynchronous")).isEqualTo(200);
        assertThat(work.portions()).isEqualTo(12);
        work.assertCounted("tenant", "asynchronous", 12);
        work.assertCounted("endpoint", "/shop/async", 12);
    }

    @Test
    void shouldNotEnterForwardsAndIncludesAgain() throws Exception {
        for (int i = 0; i < 3; i++)
            assertThat(server.get("/shop/forwarding", "forwarding")).isEqualTo(200);
        assertThat(work.portions()).isEqualTo(12);
        work.assertCounted("tenant", "forwarding", 3);
        work.assertCounted("endpoint", "/shop/forwarding", 3);
    }

    /** A framework can also run without the filter, on a thread that had it before. */
    @Test
    void shouldNotNameEndpointsOutsideOfRequests() {
        AccountType type = CpuAccounts.type("routes");
        try (Route outer = Route.open(type)) {
            assertThat(outer).isNotNull();
            try (Route inner = Route.open(type)) {
                assertThat(inner).isNotSameAs(outer);
            }
        }
        Route.name("/orders/{id}");
        assertThat(AccountContext.current()).isSameAs(AccountContext.EMPTY);
    }

    @Test
    void shouldCountOtherThreadsThatCarryTheContext() throws Exception {
        Executor counted = AccountContext.propagating(pool);
        AccountFilter filter = new AccountFilter(CpuAccounts.type("carried"), HttpServletRequest::getPathInfo);
        HttpServlet servlet = new HttpServlet() {
            @Override
            protected void doGet(HttpServletRequest request, HttpServletResponse response) {
                work.run();
                AsyncContext async = request.startAsync();
                counted.execute(() -> {
                    work.run();
                    async.complete();
                });
            }
        };
        try (WebServer carrying =
                new WebServer("").with(filter).with("/*", servlet).start()) {
            for (int i = 0; i < 5; i++) assertThat(carrying.get("/x", null)).isEqualTo(200);
        }
        assertThat(work.portions()).isEqualTo(10);
        work.assertCounted("carried", "/x", 10);
    }

    @Test
    void shouldReportRequestsOnVirtualThreadsAsNotCounted() throws Exception {
        assumeTrue(Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS, "needs virtual threads");
        Executor virtual = (Executor)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        HttpServlet servlet = new HttpServlet() {
            @Override
            protected void doGet(HttpServletRequest request, HttpServletResponse response) {
                response.setStatus(TaskClock.cpuNanos() == -1 ? 202 : 500);
            }
        };
        try (WebServer other = new WebServer("")) {
            other.connector().getProtocolHandler().setExecutor(virtual);
            other.with(AccountFilter.byHeader("X-Tenant")).with("/*", servlet).start();
            for (int i = 0; i < 4; i++) assertThat(other.get("/", "virtual")).isEqualTo(202);
        }
        assertThat(CpuAccounts.type("tenant").of("virtual").now().uncounted()).isEqualTo(4);
    }
}
