// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Computes the CPU usage of JVMs between two calls. Confined to one thread. */
public final class JvmLoads {
    private final Map<Long, Long> cpuNanosByPid = new HashMap<>();
    private long updatedAt;

    public JvmLoads() {}

    /** Returns the JVMs with their CPU usage since the previous call, or 0 in the first call, busiest first. */
    public List<IntervalSource.Jvm> update(List<JvmProcesses.Jvm> jvms) {
        long now = System.nanoTime();
        List<IntervalSource.Jvm> loads = new ArrayList<>();
        for (JvmProcesses.Jvm jvm : jvms) {
            Long before = cpuNanosByPid.put(jvm.pid(), jvm.cpuNanos());
            double percent = before == null ? 0 : 100.0 * (jvm.cpuNanos() - before) / Math.max(1, now - updatedAt);
            loads.add(new IntervalSource.Jvm((int) jvm.pid(), jvm.name(), percent));
        }
        loads.sort((a, b) -> Double.compare(b.cpuPercent(), a.cpuPercent()));
        updatedAt = now;
        return loads;
    }
}
