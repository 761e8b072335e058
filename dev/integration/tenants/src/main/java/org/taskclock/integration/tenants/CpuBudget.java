// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.tenants;

import java.util.concurrent.locks.ReentrantLock;
import org.taskclock.CpuAccount;

/**
 * The CPU time that a tenant may still use. It grows at the tenant's share of the processors, up to a limit, and
 * shrinks by what the tenant's account counts. Thread-safe.
 */
final class CpuBudget {
    private final CpuAccount account;
    private final long maximumNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private long balanceNanos;
    private long chargedNanos;
    private long reservedNanos;

    CpuBudget(CpuAccount account, long maximumNanos) {
        this.account = account;
        this.maximumNanos = maximumNanos;
        this.balanceNanos = maximumNanos;
    }

    /**
     * Reserves the CPU time that a request is expected to use. Without reservations, all requests that arrive before
     * the first one has used any CPU time would be admitted.
     *
     * @return false if the budget is used up or reserved
     */
    boolean reserve(long expectedNanos) {
        lock.lock();
        try {
            charge();
            if (balanceNanos - reservedNanos <= 0) return false;
            reservedNanos += expectedNanos;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Ends a reservation. */
    void release(long expectedNanos) {
        lock.lock();
        try {
            reservedNanos -= expectedNanos;
        } finally {
            lock.unlock();
        }
    }

    /** Adds a share of the processors' time, and returns what exceeds the maximum. */
    long add(long nanos) {
        lock.lock();
        try {
            charge();
            balanceNanos += nanos;
            long excess = Math.max(0, balanceNanos - maximumNanos);
            balanceNanos -= excess;
            return excess;
        } finally {
            lock.unlock();
        }
    }

    /** Subtracts what the tenant has used since the last call; includes requests that are still running. */
    private void charge() {
        long usedNanos = account.cpuNanos();
        balanceNanos -= usedNanos - chargedNanos;
        chargedNanos = usedNanos;
    }
}
