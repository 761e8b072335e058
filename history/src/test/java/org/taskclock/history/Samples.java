// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.time.Instant;
import java.util.List;
import org.taskclock.CpuTime;
import org.taskclock.metrics.AccountKey;
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
        return ThreadUsage.of(1, 0, pool, kind)
                .pool(pool)
                .threads(3)
                .cpu(user + system, user)
                .waited(7)
                .switches(0, 0)
                .state('S')
                .build();
    }

    static ThreadUsage account(String type, String name, long user, long system) {
        return pool(new AccountKey(type, name).pool(), ThreadKind.ACCOUNT, user, system);
    }

    static ThreadUsage thread(int tid, String name, long user, long system) {
        return ThreadUsage.of(1, tid, name, ThreadKind.JAVA)
                .pool("pool")
                .cpu(user + system, user)
                .waited(7)
                .switches(0, 0)
                .state('S')
                .build();
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
