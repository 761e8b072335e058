// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.AccountUsage;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.SectionUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Splits the totals of named accounts into intervals. An account that is missing from a report has lost its row, and
 * may get it back with its earlier total.
 */
public final class AccountTotals {
    /** A program can report new names each time. */
    private static final int MAX_ACCOUNTS = 20_000;

    /** As of each account's last report, the least recent first. */
    private final Map<AccountKey, AccountUsage> last = new LinkedHashMap<>();

    /** Creates totals of no accounts. */
    public AccountTotals() {}

    /**
     * Returns what each account has used since it was last reported, or in all; nothing of what a new type leaves over.
     */
    public List<ThreadUsage> advance(int pid, List<AccountUsage> accounts) {
        List<ThreadUsage> usages = new ArrayList<>(accounts.size());
        for (AccountUsage account : accounts) {
            AccountKey key = new AccountKey(account.type(), account.name());
            AccountUsage before = last.remove(key);
            usages.add(since(pid, key, before == null ? account.baseline() : before, account));
            last.put(key, account);
        }
        while (last.size() > MAX_ACCOUNTS) last.remove(last.keySet().iterator().next());
        return usages;
    }

    private static ThreadUsage since(int pid, AccountKey key, AccountUsage before, AccountUsage now) {
        long cpu = Math.max(0, now.cpuNanos() - before.cpuNanos());
        long wait = now.waitNanos();
        return ThreadUsage.ofGroup(pid, new PoolKey(key.pool(), ThreadKind.ACCOUNT), 0)
                .cpu(cpu, Math.max(0, Math.min(cpu, now.userNanos() - before.userNanos())))
                .waited(wait < 0 ? -1 : Math.max(0, wait - Math.max(0, before.waitNanos())))
                .total(now.cpuNanos(), -1)
                .sections(SectionUsage.between(before, now))
                .build();
    }
}
