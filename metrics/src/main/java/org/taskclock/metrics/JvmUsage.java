// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.util.List;
import org.taskclock.AccountUsage;
import org.taskclock.CpuTime;

/**
 * What a JVM has used since it started, or since watching began. Values never decrease, except for counts of threads,
 * the limit, and findings.
 *
 * @param process the CPU time of the process, to which the pools add up
 * @param virtualThreads as of the last report of the agent
 * @param accounts the named accounts of the JVM, with a row for the rest of the process in each type
 * @param container usage of the container, or of another control group with a limit; null if there is none
 * @param findings the kinds of problems that the JVM has or had
 */
public record JvmUsage(
        List<PoolUsage> pools,
        CpuTime process,
        VirtualThreadCounts virtualThreads,
        List<AccountUsage> accounts,
        ContainerUsage container,
        List<FindingStatus> findings) {
    /** Creates a usage of a JVM in which nobody looks for problems. */
    public JvmUsage(
            List<PoolUsage> pools,
            CpuTime process,
            VirtualThreadCounts virtualThreads,
            List<AccountUsage> accounts,
            ContainerUsage container) {
        this(pools, process, virtualThreads, accounts, container, List.of());
    }

    /**
     * A kind of problem that a JVM has or had.
     *
     * @param kind such as yield-storm
     * @param isCurrent whether it is there now
     * @param startMillis when it began, now or the last time, in milliseconds since 1970
     */
    public record FindingStatus(String kind, boolean isCurrent, long startMillis) {}

    /**
     * The CPU time of all processes of a control group. A negative number means unknown.
     *
     * @param throttledNanos how long the limit kept the group from running, added up over the processors
     * @param limit in processors; 0 if there is none
     * @param periods in which the group with that limit ran
     * @param throttledPeriods those of them in which it used up its share
     */
    public record ContainerUsage(
            long cpuNanos, long throttledNanos, double limit, long periods, long throttledPeriods) {
        public ContainerUsage(long cpuNanos, long throttledNanos, double limit) {
            this(cpuNanos, throttledNanos, limit, -1, -1);
        }

        /**
         * Returns the part of an interval in which the limit was used up, as the share of the periods in which the
         * group ran; -1 if unknown. {@code throttledNanos} can increase by more than the interval, because the kernel
         * adds up the run queues of all processors.
         *
         * @param before the usage at the start of the interval
         */
        public long throttledNanosSince(ContainerUsage before, long intervalNanos) {
            long all = periods - before.periods;
            long throttled = throttledPeriods - before.throttledPeriods;
            boolean isKnown = before.periods >= 0 && before.throttledPeriods >= 0 && all >= 0 && throttled >= 0;
            if (!isKnown) return -1;
            return all == 0 ? 0 : Math.round(intervalNanos * Math.min(1, (double) throttled / all));
        }
    }
}
