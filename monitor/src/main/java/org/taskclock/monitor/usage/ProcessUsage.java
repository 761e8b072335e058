// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.usage;

import org.taskclock.metrics.VirtualThreadCounts;

/**
 * The CPU use of the JVM, its control group, and the machine in one interval.
 *
 * @param processNanos CPU time of the JVM, including threads that started and ended in the interval
 * @param containerNanos CPU time of all processes of the JVM's container, or of another control group with a limit; -1
 *     if there is none or it cannot be read
 * @param containerCores the CPU limit of the control group; 0 if there is none
 * @param throttledNanos the part of the interval in which that limit was used up; -1 if unknown
 * @param machineNanos CPU time of all processes of the machine; -1 if unknown
 * @param ownNanos CPU time of the process that takes the readings
 * @param machineUserNanos the part of {@code machineNanos} spent in user mode; -1 if unknown
 * @param heap the JVM's heap; null if unknown
 * @param virtualThreads as of the agent's last report
 */
public record ProcessUsage(
        long processNanos,
        long processUserNanos,
        long containerNanos,
        double containerCores,
        long throttledNanos,
        long machineNanos,
        int processors,
        long ownNanos,
        long machineUserNanos,
        HeapUsage heap,
        VirtualThreadCounts virtualThreads) {
    public ProcessUsage {
        // Earlier recordings lack them.
        if (virtualThreads == null) virtualThreads = VirtualThreadCounts.UNKNOWN;
    }

    /** Creates totals in which the user time of the machine, the heap, and the virtual threads are unknown. */
    public ProcessUsage(
            long processNanos,
            long processUserNanos,
            long containerNanos,
            double containerCores,
            long throttledNanos,
            long machineNanos,
            int processors,
            long ownNanos) {
        this(
                processNanos,
                processUserNanos,
                containerNanos,
                containerCores,
                throttledNanos,
                machineNanos,
                processors,
                ownNanos,
                -1,
                null,
                VirtualThreadCounts.UNKNOWN);
    }
}
