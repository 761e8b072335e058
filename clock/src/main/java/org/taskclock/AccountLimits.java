// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** The limits that this copy of the library has set for accounts of a type, and whether they are reached. */
final class AccountLimits {
    private static final int MIN_SWEEP_THRESHOLD = 1_000;

    /** By name, the accounts that the registry knows. */
    private final Map<String, ?> accounts;
    /** The limit of each account, unless it has one of its own; -1 if there is none. */
    private final long nanos;

    private final Consumer<String> callback;
    private final ConcurrentHashMap<String, CpuLimit> limits = new ConcurrentHashMap<>();
    private volatile int sweepThreshold = MIN_SWEEP_THRESHOLD;

    AccountLimits(Map<String, ?> accounts, long nanos, Consumer<String> callback) {
        this.accounts = accounts;
        this.nanos = nanos;
        this.callback = callback;
    }

    boolean isEmpty() {
        return nanos < 0 && limits.isEmpty();
    }

    int count() {
        return limits.size();
    }

    void set(String account, CpuLimit limit) {
        limits.put(account, limit.checkedFirst());
    }

    /** Returns the limit of an account; null if it has none. */
    CpuLimit of(String account) {
        CpuLimit limit = limits.get(account);
        if (limit != null || nanos < 0) return limit;
        if (limits.size() >= sweepThreshold) {
            limits.keySet().removeIf(each -> !accounts.containsKey(each) && !each.equals(AccountType.OTHER));
            sweepThreshold = Math.max(MIN_SWEEP_THRESHOLD, 2 * limits.size());
        }
        return limits.computeIfAbsent(account, a -> new CpuLimit(nanos, () -> callback.accept(a)).checkedFirst());
    }

    /** Checks the limit of an account that has used {@code total} so far. */
    void check(String account, long total) {
        CpuLimit limit = of(account);
        if (limit != null && !limit.isReached()) NamedAccount.check(limit, 0, total);
    }
}
