// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.sampling.IntervalSource;

/** Computes the CPU usage of JVMs between two calls. Confined to one thread. */
public final class JvmLoads {
    private Map<Long, Long> cpuNanosByPid = Map.of();
    private long updatedAt;

    public JvmLoads() {}

    /** Returns the JVMs with their CPU usage since the previous call, or 0 in the first call, busiest first. */
    public List<IntervalSource.Jvm> update(List<JvmProcesses.Jvm> jvms) {
        long now = System.nanoTime();
        List<IntervalSource.Jvm> loads = new ArrayList<>();
        // Kept only for these JVMs, because the kernel reuses process ids.
        Map<Long, Long> newNanos = new HashMap<>();
        for (JvmProcesses.Jvm jvm : jvms) {
            newNanos.put(jvm.pid(), jvm.cpuNanos());
            long before = cpuNanosByPid.getOrDefault(jvm.pid(), jvm.cpuNanos());
            double percent = 100.0 * Math.max(0, jvm.cpuNanos() - before) / Math.max(1, now - updatedAt);
            loads.add(new IntervalSource.Jvm((int) jvm.pid(), jvm.name(), percent));
        }
        loads.sort((a, b) -> Double.compare(b.cpuPercent(), a.cpuPercent()));
        cpuNanosByPid = newNanos;
        updatedAt = now;
        return loads;
    }
}
