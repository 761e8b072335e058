// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.infra.Blackhole;
import org.taskclock.AccountType;
import org.taskclock.CpuAccount;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;
import org.taskclock.TaskClock;

/** Measures the cost of entering an account and closing the section. */
@State(Scope.Benchmark)
public class AccountBenchmark extends BenchmarkSettings {
    private static final int ACCOUNTS = 4;
    private static final long NEVER = Long.MAX_VALUE;

    private final CpuAccount account = CpuAccount.create();
    private final CpuAccount inside = CpuAccount.create();
    private final CpuAccount limited = CpuAccount.create();
    private final CpuAccount withBytes = CpuAccount.withAllocatedBytes();
    private final CpuAccount[] accounts = new CpuAccount[ACCOUNTS];
    private final AccountType type = CpuAccounts.type("benchmark");
    private final CpuAccount named = type.of("a");
    private final CpuAccount namedInside = type.of("b");
    private final CpuAccount[] namedAccounts = new CpuAccount[ACCOUNTS];

    @Setup
    public void setUp() {
        limited.limit(NEVER, () -> {});
        for (int i = 0; i < ACCOUNTS; i++) {
            accounts[i] = CpuAccount.create();
            namedAccounts[i] = type.of("account " + i);
        }
    }

    /** Makes only the two readings: the lower bound. */
    @Benchmark
    public void twoReadings(Blackhole blackhole) {
        blackhole.consume(TaskClock.cpuNanos());
        blackhole.consume(TaskClock.cpuNanos());
    }

    @Benchmark
    public void enterAndClose() {
        account.enter().close();
    }

    @Benchmark
    public void onOneProcessor(ConcurrencyBenchmark.OnProcessor unused) {
        account.enter().close();
    }

    /** Enters one account on two threads. The mean equals that of one thread if they do not disturb each other. */
    @Benchmark
    @Threads(2)
    public void onTwoProcessors(ConcurrencyBenchmark.OnProcessor unused) {
        account.enter().close();
    }

    @Benchmark
    public void withLimit() {
        limited.enter().close();
    }

    @Benchmark
    public void withAllocatedBytes() {
        withBytes.enter().close();
    }

    /** Alternates between accounts on one thread. */
    @Benchmark
    @OperationsPerInvocation(ACCOUNTS)
    public void alternating() {
        for (CpuAccount each : accounts) {
            each.enter().close();
        }
    }

    @Benchmark
    public void named() {
        named.enter().close();
    }

    /** Looks the account up for each section. */
    @Benchmark
    public void namedLookup() {
        type.of("a").enter().close();
    }

    @Benchmark
    @OperationsPerInvocation(ACCOUNTS)
    public void namedAlternating() {
        for (CpuAccount each : namedAccounts) {
            each.enter().close();
        }
    }

    @Benchmark
    @SuppressWarnings("try")
    public void namedNested() {
        try (CpuSection outer = named.enter();
                CpuSection inner = namedInside.enter()) {
            // nothing
        }
    }

    /** Enters a section inside a section of another account. */
    @Benchmark
    @SuppressWarnings("try")
    public void nested() {
        try (CpuSection outer = account.enter();
                CpuSection inner = inside.enter()) {
            // nothing
        }
    }

    @Benchmark
    @SuppressWarnings("try")
    public void nestedSame() {
        try (CpuSection outer = account.enter();
                CpuSection inner = account.enter()) {
            // nothing
        }
    }

    /** Creates an account and enters its first section. */
    @Benchmark
    @SuppressWarnings("try")
    public CpuAccount newAccount() {
        CpuAccount created = CpuAccount.create();
        try (CpuSection section = created.enter()) {
            return created;
        }
    }
}
