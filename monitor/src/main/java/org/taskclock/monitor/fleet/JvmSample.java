// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.CpuTime;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The usage of a JVM in an interval, as far as it was read.
 *
 * @param intervalNanos the time since the previous sample of the JVM; 0 if there is none, or if nothing was read yet
 * @param pools those that have threads or used something
 * @param accounts the named accounts, as pools of kind ACCOUNT
 * @param threads those that used something
 * @param process the CPU time of the process
 * @param virtualThreads as of the last report of the agent
 * @param container CPU time in the interval, and the part of it in which the limit was used up, -1 if unknown; null if
 *     the JVM has neither a container nor a limit
 */
public record JvmSample(
        MonitoredJvm jvm,
        long intervalNanos,
        List<ThreadUsage> pools,
        List<ThreadUsage> accounts,
        List<ThreadUsage> threads,
        CpuTime process,
        VirtualThreadCounts virtualThreads,
        JvmUsage.ContainerUsage container) {
    /** Returns the pools and the accounts. */
    public List<ThreadUsage> poolsAndAccounts() {
        List<ThreadUsage> all = new ArrayList<>(pools);
        all.addAll(accounts);
        return all;
    }
}
