// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;
import org.taskclock.CpuAccount;
import org.taskclock.bindings.AccountContext;
import org.taskclock.bindings.AccountScope;

/**
 * Measures what the bindings add when a thread begins and ends to work for something: the cost of a hop of a coroutine
 * or a reactive pipeline, apart from the library's own.
 */
@State(Scope.Benchmark)
public class ContextBenchmark extends BenchmarkSettings {
    private static final int REQUESTS = 4;

    private final CpuAccount account = CpuAccount.create();
    private final AccountContext tenant = AccountContext.EMPTY.with(account);
    private final AccountContext request = tenant.with(CpuAccount.create());
    private final AccountContext[] requests = new AccountContext[REQUESTS];

    /** Creates a context for each request of one tenant. */
    public ContextBenchmark() {
        for (int i = 0; i < REQUESTS; i++) requests[i] = tenant.with(CpuAccount.create());
    }

    /** Enters the account without a context: the lower bound. */
    @Benchmark
    public void baseline() {
        account.enter().close();
    }

    @Benchmark
    public void oneAccount() {
        tenant.enter().close();
    }

    @Benchmark
    public void twoAccounts() {
        request.enter().close();
    }

    /** Enters the context in which the thread already is, such as that of an operator on the same thread. */
    @Benchmark
    @OperationsPerInvocation(REQUESTS)
    @SuppressWarnings("try")
    public void sameContext() {
        try (AccountScope outer = request.enter()) {
            for (int i = 0; i < REQUESTS; i++) {
                request.enter().close();
            }
        }
    }

    /** Goes from one request of a tenant to the next, as a thread does that resumes one coroutine after another. */
    @Benchmark
    @OperationsPerInvocation(REQUESTS)
    @SuppressWarnings("try")
    public void alternatingRequests() {
        try (AccountScope outer = tenant.enter()) {
            for (AccountContext each : requests) {
                each.enter().close();
            }
        }
    }

    /** Passes a task on in its context and runs it. */
    @Benchmark
    public void wrappedTask(Blackhole blackhole) {
        request.wrap(() -> blackhole.consume(this)).run();
    }
}
