// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import com.sun.management.ThreadMXBean;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.taskclock.AccountUsage;
import org.taskclock.CpuTime;
import org.taskclock.TaskClock;
import org.taskclock.metrics.JvmThreads;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.metrics.PoolUsage;

/** The actuator endpoint {@code taskclock}: the CPU time of the process, its pools, threads, and accounts, as JSON. */
@SuppressWarnings("exports") // only Spring Boot, which is optional, uses this class
@Endpoint(id = "taskclock")
public final class TaskClockEndpoint {
    private static final int MAX_THREADS = 100;

    private final TaskClockMetrics metrics;

    TaskClockEndpoint(TaskClockMetrics metrics) {
        this.metrics = metrics;
    }

    /** Returns the CPU time since the JVM started, in seconds; of the busiest {@value #MAX_THREADS} Java threads. */
    @ReadOperation
    public Map<String, Object> usage() {
        JvmUsage usage = metrics.usage();
        Map<String, Object> all = new LinkedHashMap<>();
        CpuTime process = usage.process();
        all.put("process", times(process.userNanos(), process.systemNanos()));
        List<Map<String, Object>> pools = new ArrayList<>();
        for (PoolUsage pool : usage.pools()) {
            Map<String, Object> values = times(pool.userNanos(), pool.systemNanos());
            values.put("name", pool.pool());
            values.put("kind", pool.kind().label());
            values.put("threads", pool.threads());
            pools.add(values);
        }
        all.put("pools", sorted(pools));
        all.put("threads", threads());
        List<Map<String, Object>> accounts = new ArrayList<>();
        for (AccountUsage account : JvmThreads.accounts()) {
            Map<String, Object> values = times(account.userNanos(), account.systemNanos());
            values.put("type", account.type());
            values.put("name", account.name());
            if (account.sections() >= 0) values.put("sections", account.sections());
            accounts.add(values);
        }
        all.put("accounts", sorted(accounts));
        return all;
    }

    private static List<Map<String, Object>> threads() {
        ThreadMXBean bean = TaskClock.threadMXBean();
        long[] ids = bean.getAllThreadIds();
        long[] cpu = bean.getThreadCpuTime(ids);
        long[] user = bean.getThreadUserTime(ids);
        ThreadInfo[] infos = bean.getThreadInfo(ids);
        List<Map<String, Object>> threads = new ArrayList<>();
        for (int i = 0; i < ids.length; i++) {
            // Otherwise, it has ended.
            if (infos[i] == null || cpu[i] < 0 || user[i] < 0) continue;
            Map<String, Object> values = times(user[i], cpu[i] - user[i]);
            values.put("name", infos[i].getThreadName());
            values.put("id", ids[i]);
            threads.add(values);
        }
        List<Map<String, Object>> sorted = sorted(threads);
        return sorted.subList(0, Math.min(MAX_THREADS, sorted.size()));
    }

    /** Returns what is known. */
    private static Map<String, Object> times(long userNanos, long systemNanos) {
        Map<String, Object> values = new LinkedHashMap<>();
        if (userNanos < 0 || systemNanos < 0) return values;
        values.put("cpu", (userNanos + systemNanos) / 1e9);
        values.put("user", userNanos / 1e9);
        values.put("system", systemNanos / 1e9);
        return values;
    }

    private static List<Map<String, Object>> sorted(List<Map<String, Object>> rows) {
        rows.sort(Comparator.comparingDouble(row -> -(double) row.getOrDefault("cpu", 0.0)));
        return rows;
    }
}
