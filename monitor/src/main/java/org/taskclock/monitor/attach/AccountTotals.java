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

    private List<AccountUsage> latest = List.of();

    /** Creates totals of no accounts. */
    public AccountTotals() {}

    /** Returns what each account has used since it was last reported, or in all. */
    public List<ThreadUsage> advance(int pid, List<AgentReport.Account> accounts) {
        List<ThreadUsage> usages = new ArrayList<>(accounts.size());
        List<AccountUsage> reported = new ArrayList<>(accounts.size());
        for (AgentReport.Account account : accounts) {
            AccountUsage now = account.usage();
            AccountUsage before = last.remove(account.key());
            usages.add(since(pid, before == null ? AccountUsage.none(now.type(), now.name()) : before, now));
            last.put(account.key(), now);
            reported.add(now);
        }
        while (last.size() > MAX_ACCOUNTS) last.remove(last.keySet().iterator().next());
        latest = List.copyOf(reported);
        return usages;
    }

    /** Returns the accounts as of the last report. */
    public List<AccountUsage> latest() {
        return latest;
    }

    private static ThreadUsage since(int pid, AccountUsage before, AccountUsage now) {
        long cpu = Math.max(0, now.cpuNanos() - before.cpuNanos());
        long wait = now.waitNanos() < 0 ? -1 : Math.max(0, now.waitNanos() - Math.max(0, before.waitNanos()));
        String pool = new AccountKey(now.type(), now.name()).pool();
        return ThreadUsage.ofGroup(pid, new PoolKey(pool, ThreadKind.ACCOUNT), 0)
                .cpu(cpu, Math.max(0, Math.min(cpu, now.userNanos() - before.userNanos())))
                .waited(wait)
                .total(now.cpuNanos(), -1)
                .sections(SectionUsage.between(before, now))
                .build();
    }
}
