// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.usage;

import org.taskclock.AccountReading;
import org.taskclock.AccountUsage;
import org.taskclock.Distribution;

/**
 * The sections of a named account that were closed in an interval; -1 means unknown.
 *
 * @param count the number of sections
 * @param p50Nanos the median of their CPU time; known only if the type of the account keeps a distribution, and for one
 *     report of the agent, because medians cannot be added
 * @param p99Nanos the 99th percentile of their CPU time, as far as {@code p50Nanos} is known
 */
public record SectionUsage(long count, long p50Nanos, long p99Nanos) {
    public static final SectionUsage UNKNOWN = new SectionUsage(-1, -1, -1);

    private static final double MEDIAN = 0.5;
    private static final double P99 = 0.99;

    /** Returns what was closed since an earlier reading of the same account. */
    public static SectionUsage between(AccountUsage before, AccountUsage now) {
        if (now.sections() < 0 || now.name().equals(AccountReading.UNACCOUNTED)) return UNKNOWN;
        long count = Math.max(0, now.sections() - before.sections());
        if (count == 0 || now.distribution() == null) return new SectionUsage(count, -1, -1);
        Distribution distribution = now.distribution();
        if (before.distribution() != null) distribution = distribution.since(before.distribution());
        return new SectionUsage(count, distribution.quantileNanos(MEDIAN), distribution.quantileNanos(P99));
    }

    /** Adds the sections of another interval. */
    SectionUsage plus(SectionUsage other) {
        if (count <= 0) return other.count < 0 ? this : other;
        return other.count <= 0 ? this : new SectionUsage(count + other.count, -1, -1);
    }

    /** Returns the part of the sections that an interval has of a report. */
    public SectionUsage scaled(double share) {
        return count < 0 ? this : new SectionUsage(Math.round(count * share), p50Nanos, p99Nanos);
    }
}
