// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.time.Instant;
import java.util.List;
import org.taskclock.CpuTime;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** Makes samples for tests. */
final class Samples {
    static final long SECOND = 1_000_000_000;

    private Samples() {}

    static JvmKey jvm(int pid) {
        return jvm("host-a", pid);
    }

    static JvmKey jvm(String host, int pid) {
        Instant started = Instant.parse("2026-11-01T00:00:00Z");
        return new JvmKey(
                pid + "-" + started.getEpochSecond(), host, pid, "service-" + pid, "Main", null, null, started);
    }

    static ThreadUsage pool(String pool, long user, long system) {
        return pool(pool, ThreadKind.JAVA, user, system);
    }

    static ThreadUsage pool(String pool, ThreadKind kind, long user, long system) {
        return new ThreadUsage(1, 0, 0, pool, false, kind, pool, 3, user + system, user, 7, 0, 0, 'S');
    }

    static ThreadUsage thread(int tid, String name, long user, long system) {
        return new ThreadUsage(1, tid, 0, name, false, ThreadKind.JAVA, "pool", 1, user + system, user, 7, 0, 0, 'S');
    }

    /** Returns a sample of one second. */
    static HistorySample sample(JvmKey jvm, Instant end, List<ThreadUsage> pools, List<ThreadUsage> threads) {
        return sample(jvm, end, SECOND, pools, threads);
    }

    static HistorySample sample(
            JvmKey jvm, Instant end, long interval, List<ThreadUsage> pools, List<ThreadUsage> threads) {
        long user = pools.stream().mapToLong(ThreadUsage::userNanos).sum();
        long cpu = pools.stream().mapToLong(ThreadUsage::cpuNanos).sum();
        return new HistorySample(
                jvm,
                end,
                interval,
                pools,
                threads,
                new CpuTime(cpu, user, cpu - user),
                new JvmUsage.ContainerUsage(cpu * 2, 5, 1.5));
    }
}
