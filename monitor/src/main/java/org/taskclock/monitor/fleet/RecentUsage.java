// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.taskclock.CpuTime;
import org.taskclock.metrics.JvmUsage.ContainerUsage;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** The usage of a JVM since its last sample. */
final class RecentUsage {
    private static final CpuTime NOTHING = new CpuTime(0, 0, 0);

    private final UsageSums pools = new UsageSums();
    private final UsageSums threads = new UsageSums();

    /** As of the last reading; {@link #taken} as of the last sample. */
    private CpuTime process = NOTHING;

    private CpuTime taken = NOTHING;

    /** As of System.nanoTime; 0 if there is no sample yet. */
    private long takenAt;

    private long readAt;
    private ContainerUsage container;
    private boolean isUsed;

    boolean isUsed() {
        return isUsed;
    }

    void add(PoolReading reading, long now) {
        isUsed = true;
        // Counting starts when the names of the threads are known. The last reading may have no pools.
        if (reading.process().cpuNanos() == 0) return;
        pools.add(reading.pools());
        threads.add(reading.threads());
        process = reading.process();
        readAt = now;
    }

    JvmSample take(MonitoredJvm jvm, ContainerUsage now) {
        long since = takenAt == 0 ? jvm.startNanos : takenAt;
        boolean hasRead = readAt != 0 && readAt != takenAt;
        CpuTime used = hasRead ? process.minus(taken) : NOTHING;
        long nanos = hasRead ? readAt - since : 0;
        Map<Boolean, List<ThreadUsage>> byAccount =
                pools.take().stream().collect(Collectors.partitioningBy(usage -> usage.kind() == ThreadKind.ACCOUNT));
        JvmSample sample = new JvmSample(
                jvm,
                nanos,
                byAccount.get(false),
                byAccount.get(true),
                threads.take(),
                used,
                jvm.virtualThreads(),
                difference(container, now, nanos));
        if (hasRead) {
            taken = process;
            takenAt = readAt;
        }
        container = now;
        return sample;
    }

    static ContainerUsage difference(ContainerUsage before, ContainerUsage now, long intervalNanos) {
        if (before == null || now == null) return null;
        return new ContainerUsage(
                difference(before.cpuNanos(), now.cpuNanos()),
                now.throttledNanosSince(before, intervalNanos),
                now.limit());
    }

    private static long difference(long before, long now) {
        return before < 0 || now < 0 ? -1 : Math.max(0, now - before);
    }
}
