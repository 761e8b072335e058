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
import org.taskclock.CpuAccount;
import org.taskclock.CpuSection;
import org.taskclock.TaskClock;

/** What it costs to enter an account and to close the section. */
@State(Scope.Benchmark)
public class Account extends Settings {
    private static final int TURNS = 4;
    private static final long NEVER = Long.MAX_VALUE;

    private final CpuAccount account = new CpuAccount();
    private final CpuAccount inside = new CpuAccount();
    private final CpuAccount limited = new CpuAccount();
    private final CpuAccount withBytes = CpuAccount.withAllocatedBytes();
    private final CpuAccount[] accounts = new CpuAccount[TURNS];

    @Setup
    public void setUp() {
        limited.limit(NEVER, () -> {});
        for (int i = 0; i < TURNS; i++) accounts[i] = new CpuAccount();
    }

    /** Nothing gets below: the two readings alone. */
    @Benchmark
    public void twoReadings(Blackhole blackhole) {
        blackhole.consume(TaskClock.cpuNanos());
        blackhole.consume(TaskClock.cpuNanos());
    }

    @Benchmark
    @SuppressWarnings("try")
    public void enterAndClose() {
        try (CpuSection section = account.enter()) {
            // nothing
        }
    }

    @Benchmark
    @SuppressWarnings("try")
    public void onOneProcessor(Concurrency.OnProcessor unused) {
        try (CpuSection section = account.enter()) {
            // nothing
        }
    }

    /** The mean of two that enter the same account: where they do not disturb each other, it is as with one. */
    @Benchmark
    @Threads(2)
    @SuppressWarnings("try")
    public void onTwoProcessors(Concurrency.OnProcessor unused) {
        try (CpuSection section = account.enter()) {
            // nothing
        }
    }

    @Benchmark
    @SuppressWarnings("try")
    public void withLimit() {
        try (CpuSection section = limited.enter()) {
            // nothing
        }
    }

    @Benchmark
    @SuppressWarnings("try")
    public void withAllocatedBytes() {
        try (CpuSection section = withBytes.enter()) {
            // nothing
        }
    }

    /** A thread that takes turns. */
    @Benchmark
    @OperationsPerInvocation(TURNS)
    @SuppressWarnings("try")
    public void inTurns() {
        for (CpuAccount each : accounts) {
            try (CpuSection section = each.enter()) {
                // nothing
            }
        }
    }

    /** Two accounts, one inside the other. */
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
    public void twiceTheSame() {
        try (CpuSection outer = account.enter();
                CpuSection inner = account.enter()) {
            // nothing
        }
    }

    /** All that the first section of a new account costs. */
    @Benchmark
    @SuppressWarnings("try")
    public CpuAccount newAccount() {
        CpuAccount made = new CpuAccount();
        try (CpuSection section = made.enter()) {
            return made;
        }
    }
}
