// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.time.Duration;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * Shares processors fairly among the accounts of a type: decides whether to start a task, such as a request, by the CPU
 * time that its account has used.
 *
 * <pre>{@code
 * private static final CpuShares SHARES = new CpuShares(TENANT);
 *
 * try (var permit = SHARES.admit(tenantId)) {
 *     if (permit == null) return tooManyRequests();
 *     try (var section = TENANT.of(tenantId).enter()) {
 *         handle(request);
 *     }
 * }
 * }</pre>
 *
 * <p>Each account has a budget of CPU time. It shrinks by what the account uses, including open sections, and grows at
 * the account's share of the processors, up to a limit. The shares are equal, and what exceeds a budget's limit goes to
 * the accounts that have used more. So an account alone may use all processors, and one that uses less than its share
 * is never refused because of others. A task is admitted if its account has budget left that is not reserved. The
 * budget reserves what a running task is expected to use, because tasks that start at the same time have not used
 * anything yet.
 *
 * <p>A task that was admitted is not interrupted. What it uses beyond the budget has to grow back first.
 *
 * <p>Thread-safe. There is no thread: {@link #admit} brings the budgets up to date if this has not happened for 10 ms,
 * which takes one reading of the accounts.
 */
public final class CpuShares {
    /** The part of the processors that is shared unless another one is given. */
    private static final double DEFAULT_PART = 0.7;

    private static final Duration DEFAULT_BURST = Duration.ofMillis(50);
    /** The number of accounts whose budget is not full. */
    static final int MAX_NAMES = 1_000;

    private static final long REFILL_NANOS = 10_000_000;
    /** Older tasks count half in the expectation. */
    private static final int MAX_FINISHED = 100;

    private final double processors;
    private final long burstNanos;
    private final Function<Collection<String>, Map<String, Long>> usage;
    private final LongSupplier nanoTime;

    private final ReentrantLock lock = new ReentrantLock();
    /** By name, the least recently used first. Those with a full budget may be forgotten. */
    private final LinkedHashMap<String, Budget> budgets = new LinkedHashMap<>(16, 0.75f, true);

    private long refilledNanos;

    /**
     * Shares 70 % of the available processors. The rest is for what runs outside of the accounts, such as the garbage
     * collector. An account can use 50 ms at once after a pause.
     *
     * @param type the accounts
     */
    public CpuShares(AccountType type) {
        this(type, DEFAULT_PART * Runtime.getRuntime().availableProcessors(), DEFAULT_BURST);
    }

    /**
     * Shares processors among the accounts of a type.
     *
     * @param type the accounts
     * @param processors how many processors the accounts may use together, such as 1.4
     * @param burst the limit of each budget: the CPU time that an account can use at once after a pause
     * @throws IllegalArgumentException if one of the last two is not positive
     */
    public CpuShares(AccountType type, double processors, Duration burst) {
        this(processors, burst, type.table()::cpuNanos, System::nanoTime);
    }

    /** @param usage returns the CPU time of accounts by name; without those that do not exist */
    CpuShares(
            double processors,
            Duration burst,
            Function<Collection<String>, Map<String, Long>> usage,
            LongSupplier nanoTime) {
        if (!(processors > 0)) throw new IllegalArgumentException("processors: " + processors);
        if (burst.isNegative() || burst.isZero()) throw new IllegalArgumentException("burst: " + burst);
        this.processors = processors;
        this.burstNanos = burst.toNanos();
        this.usage = usage;
        this.nanoTime = nanoTime;
        this.refilledNanos = nanoTime.getAsLong();
    }

    /**
     * Admits a task if its account has budget left. The task is expected to use as much as the account's tasks did so
     * far. Until the first one has ended, a task reserves the whole budget.
     *
     * @param name the name of the account
     * @return the permit to close when the task has ended; null if the task should not start now, or if 1,000 other
     *     accounts have used some of their budget
     */
    public Permit admit(String name) {
        return admit(name, -1);
    }

    /**
     * Admits a task whose CPU time can be estimated.
     *
     * @param name the name of the account
     * @param expectedNanos the CPU time that the task is expected to use; -1 if unknown
     * @return as {@link #admit(String)} does
     */
    public Permit admit(String name, long expectedNanos) {
        lock.lock();
        try {
            refill();
            Budget budget = budget(PoolName.bounded(name));
            if (budget == null || budget.balance - budget.reserved <= 0) return null;
            Permit permit = new Permit(budget, expectedNanos < 0 ? budget.expectedNanos() : expectedNanos);
            budget.running++;
            budget.reserved += permit.nanos;
            return permit;
        } finally {
            lock.unlock();
        }
    }

    private Budget budget(String name) {
        Budget budget = budgets.get(name);
        if (budget != null) return budget;
        if (budgets.size() >= MAX_NAMES && !forgetOne()) return null;
        budget = new Budget();
        budget.balance = burstNanos;
        budget.used = used(Map.of(name, budget)).getOrDefault(name, 0L);
        budgets.put(name, budget);
        return budget;
    }

    private Map<String, Long> used(Map<String, Budget> of) {
        return usage.apply(of.keySet());
    }

    /** Forgets an account that would start with the same budget. */
    private boolean forgetOne() {
        for (Iterator<Budget> all = budgets.values().iterator(); all.hasNext(); ) {
            Budget budget = all.next();
            if (budget.running > 0 || budget.balance < burstNanos) continue;
            all.remove();
            return true;
        }
        return false;
    }

    private void refill() {
        long now = nanoTime.getAsLong();
        if (now - refilledNanos < REFILL_NANOS) return;
        double nanos = (now - refilledNanos) * processors;
        refilledNanos = now;
        Map<String, Long> used = used(budgets);
        budgets.forEach((name, budget) -> budget.charge(used.getOrDefault(name, 0L)));
        // Each round fills at least one budget, or uses up the time.
        for (long needing = needing(); needing > 0 && nanos >= needing; needing = needing()) {
            long share = (long) (nanos / needing);
            for (Budget budget : budgets.values()) {
                long more = Math.min(share, burstNanos - budget.balance);
                budget.balance += more;
                nanos -= more;
            }
        }
    }

    private long needing() {
        return budgets.values().stream()
                .filter(budget -> budget.balance < burstNanos)
                .count();
    }

    /** The budget of an account, in nanoseconds. Guarded by the lock. */
    private final class Budget {
        private long balance;
        /** What running tasks are expected to use, and those that have ended since the last charge. */
        private long reserved;

        private long reservedByFinished;
        private int running;
        /** The CPU time of the account when it was last charged. */
        private long used;

        private double finished;
        private double usedByFinished;
        private int justFinished;

        void charge(long nowUsed) {
            // The registry may have forgotten the account, which then starts at 0.
            long more = Math.max(0, nowUsed - used);
            used = nowUsed;
            balance -= more;
            reserved -= reservedByFinished;
            reservedByFinished = 0;
            usedByFinished += more;
            finished += justFinished;
            justFinished = 0;
            if (finished <= MAX_FINISHED) return;
            finished /= 2;
            usedByFinished /= 2;
        }

        long expectedNanos() {
            return finished == 0 ? burstNanos : (long) (usedByFinished / finished);
        }

        void release(long nanos) {
            running--;
            justFinished++;
            reservedByFinished += nanos;
        }
    }

    /** The permission to run a task. */
    public final class Permit implements AutoCloseable {
        private final Budget budget;
        private final long nanos;
        private boolean isClosed;

        private Permit(Budget budget, long nanos) {
            this.budget = budget;
            this.nanos = nanos;
        }

        /** Ends the reservation. Any thread may call this; a second call has no effect. */
        @Override
        public void close() {
            lock.lock();
            try {
                if (!isClosed) budget.release(nanos);
                isClosed = true;
            } finally {
                lock.unlock();
            }
        }
    }
}
