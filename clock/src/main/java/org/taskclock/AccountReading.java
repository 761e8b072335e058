// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.ArrayList;
import java.util.List;

/**
 * A reading of all accounts of one type. The CPU times of {@code accounts}, {@code retired}, and {@code unaccounted}
 * add up to that of the process as the reading began, or exceed it by what sections used since. The kernel updates the
 * CPU time of a process at ticks, so it can lag by one tick for each processor.
 *
 * @param type the name of the type
 * @param accounts the accounts with a row of their own, and {@link AccountType#OTHER} if there are more; the busiest
 *     first
 * @param retired what accounts used that had a row earlier, and may get it back, and what {@link DeferredAccount}s used
 *     whose name is not known yet; not a counter, because it decreases then
 * @param unaccounted the CPU time of this process outside sections of this type
 * @param names the number of accounts
 * @param openSections the sections that are open now, the longest first
 */
public record AccountReading(
        String type,
        List<AccountUsage> accounts,
        AccountUsage retired,
        CpuTime unaccounted,
        int names,
        List<OpenSection> openSections) {
    /** The name of the row for CPU time outside sections. */
    public static final String UNACCOUNTED = "(unaccounted)";

    /** The name of {@link #retired()}. */
    static final String RETIRED = "(retired)";

    /** The name of the sections of deferred accounts. */
    static final String PENDING = "(pending)";

    /**
     * Returns the rows that add up to the CPU time of the process, as counters for metrics.
     *
     * @return {@link #accounts()}, and a row {@value #UNACCOUNTED} if the CPU time of the process is known
     */
    public List<AccountUsage> rows() {
        if (!unaccounted.isKnown()) return accounts;
        List<AccountUsage> rows = new ArrayList<>(accounts);
        rows.add(new AccountUsage(
                type, UNACCOUNTED, unaccounted.cpuNanos(), unaccounted.userNanos(), -1, -1, 0, 0, 0, 0, null));
        return rows;
    }

    static boolean isReserved(String name) {
        return name.equals(AccountType.OTHER)
                || name.equals(UNACCOUNTED)
                || name.equals(RETIRED)
                || name.equals(PENDING);
    }
}
