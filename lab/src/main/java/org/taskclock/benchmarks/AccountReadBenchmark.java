// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.concurrent.CountDownLatch;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.taskclock.CpuAccount;
import org.taskclock.CpuSection;
import org.taskclock.CpuUsage;

/** Measures the cost of reading an account in which 64 threads have open or closed sections. */
@State(Scope.Benchmark)
public class AccountReadBenchmark extends BenchmarkSettings {
    private static final int THREADS = 64;

    @Param({"open", "closed"})
    public String sections;

    private final CpuAccount account = CpuAccount.create();
    private final CountDownLatch end = new CountDownLatch(1);

    @Setup
    public void start() throws InterruptedException {
        CountDownLatch entered = new CountDownLatch(THREADS);
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> {
                CpuSection section = account.enter();
                if (sections.equals("closed")) section.close();
                entered.countDown();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        entered.await();
    }

    @TearDown
    public void tearDown() {
        end.countDown();
    }

    @Benchmark
    public long cpuNanos() {
        return account.cpuNanos();
    }

    @Benchmark
    public CpuUsage now() {
        return account.now();
    }
}
